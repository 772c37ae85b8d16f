/** Spelling of a tree as it is written, up to the order of terms, factors and sides: what a copy of the question has in common with it. */
import * as q from "../exact/rational.ts";
import { show } from "../tree/show.ts";
import { children, factorsOf } from "../tree/walk.ts";
import type { Node, RelationOperator } from "../tree/node.ts";

const MIRRORED: Readonly<Partial<Record<RelationOperator, RelationOperator>>> = { ">": "<", ">=": "<=" };

/** Returns the spelling. It leaves out numbers that add up to zero, factors that make one, and exponents of one; a ratio of two numbers is spelled as a fraction. */
export function written(node: Node): string {
  switch (node.kind) {
    case "number":
      return node.notation?.kind === "fraction"
        ? `${node.value.n < 0n ? "-" : ""}${absolute(node.notation.top)}/${absolute(node.notation.bottom)}`
        : `${q.toText(node.value)}${node.notation?.kind === "computed" ? "/" : ""}`;
    case "add":
      return joined("+", withoutNumbers(termsOf(node), q.add, q.ZERO).map(written), "0");
    case "multiply": {
      const factors = withoutNumbers(factorsOf(node), q.multiply, q.ONE).map(written);
      return factors.includes("0") ? "0" : joined("*", factors, "1");
    }
    case "power": {
      const base = written(node.base);
      const exponent = node.exponent.kind === "number" ? q.toText(node.exponent.value) : written(node.exponent);
      return exponent === "1" || base === "1" ? base : `(${base})^(${exponent})`;
    }
    case "ratio":
      return isRatio(node) ? node.parts.map(written).join("/") : `ratio:(${node.parts.map(written).join(",")})`;
    case "relation":
      return relation(node.operators, node.operands);
    case "list":
    case "set":
      return `{${node.items.map(written).toSorted().join(",")}}`;
    case "quantity":
      return `${written(node.value)} ${q.toText(node.unit.factor)} ${node.unit.dimension}`;
    case "symbol":
    case "constant":
    case "namedSet":
    case "text":
      return show(node);
    default:
      return `${node.kind}:${"name" in node ? node.name : ""}(${children(node).map(written).join(",")})`;
  }
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

const termsOf = (node: Node): readonly Node[] => (node.kind === "add" ? node.terms.flatMap(termsOf) : [node]);

/** Removes the numbers among several terms or factors if together they change nothing: `+ 1 - 1`, `2 \cdot \frac12`. */
function withoutNumbers(
  parts: readonly Node[],
  combine: (a: q.Rational, b: q.Rational) => q.Rational,
  neutral: q.Rational,
): readonly Node[] {
  const numbers = parts.flatMap((part) => literalOf(part) ?? []);
  if (numbers.length < 2 || numbers.length === parts.length) return parts;
  return q.equals(numbers.reduce(combine), neutral) ? parts.filter((part) => literalOf(part) === undefined) : parts;
}

/** Returns the value of a number, of its negative and of its reciprocal. */
function literalOf(node: Node): q.Rational | undefined {
  if (node.kind === "number") return node.value;
  if (node.kind === "multiply") {
    const factors = node.factors.map(literalOf);
    return factors.includes(undefined) ? undefined : (factors as q.Rational[]).reduce(q.multiply);
  }
  if (node.kind !== "power" || node.base.kind !== "number" || node.exponent.kind !== "number") return undefined;
  const { value } = node.base;
  return node.exponent.value.n === -1n && node.exponent.value.d === 1n && value.n !== 0n
    ? q.divide(q.ONE, value)
    : undefined;
}

const isRatio = (node: Node): boolean =>
  node.kind === "ratio" && node.parts.length === 2 && node.parts.every((part) => part.kind === "number");

function joined(operator: string, parts: readonly string[], neutral: string): string {
  const isNegative = operator === "*" && parts.filter((part) => part === "-1").length % 2 === 1;
  const kept = parts.filter((part) => part !== neutral && (operator === "+" || part !== "-1"));
  if (isNegative) kept.push("-1");
  return kept.length <= 1 ? (kept[0] ?? neutral) : `(${kept.toSorted().join(operator)})`;
}

function relation(operators: readonly RelationOperator[], operands: readonly Node[]): string {
  const sides = operands.map(written);
  if (operators.every((operator) => operator === "=")) return sides.toSorted().join(" = ");
  const isMirrored = operators.every((operator) => operator in MIRRORED);
  const names = isMirrored ? operators.map((operator) => MIRRORED[operator]).toReversed() : operators;
  return (isMirrored ? sides.toReversed() : sides)
    .map((side, i) => (i === 0 ? side : ` ${names[i - 1]} ${side}`))
    .join("");
}

/** Whether a tree has an operation, a relation or a function: it is more than a number, a name or a collection of these. */
export function isComputation(node: Node): boolean {
  switch (node.kind) {
    case "number":
      return node.notation?.kind === "fraction" || node.notation?.kind === "computed";
    case "add":
    case "multiply":
    case "power":
    case "relation":
    case "builder":
      return written(node) !== "-1" && !isSigned(node);
    case "call":
      return true;
    case "ratio":
      return isRatio(node) || node.parts.some(isComputation);
    case "text":
      return false;
    default:
      return children(node).some(isComputation);
  }
}

/** Returns true for a negated number or name. */
function isSigned(node: Node): boolean {
  if (node.kind !== "multiply" || node.factors.length !== 2) return false;
  const [sign, value] = node.factors as [Node, Node];
  return sign.kind === "number" && sign.value.n === -1n && children(value).length === 0;
}
