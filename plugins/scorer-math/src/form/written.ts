/** Spelling of a tree as it is written, up to the order of terms, factors and sides: what a copy of the question has in common with it. */
import { toText } from "../exact/rational.ts";
import { show } from "../tree/show.ts";
import { children } from "../tree/walk.ts";
import type { Node, RelationOperator } from "../tree/node.ts";

const MIRRORED: Readonly<Partial<Record<RelationOperator, RelationOperator>>> = { ">": "<", ">=": "<=" };

/** Returns the spelling. It leaves out zero terms, factors of one and exponents of one. */
export function written(node: Node): string {
  switch (node.kind) {
    case "number":
      return node.notation?.kind === "fraction"
        ? `${node.value.n < 0n ? "-" : ""}${absolute(node.notation.top)}/${absolute(node.notation.bottom)}`
        : `${toText(node.value)}${node.notation?.kind === "computed" ? "/" : ""}`;
    case "add":
      return joined("+", flat(node, "add").map(written), "0");
    case "multiply":
      return joined("*", flat(node, "multiply").map(written), "1");
    case "power": {
      const exponent = written(node.exponent);
      return exponent === "1" ? written(node.base) : `(${written(node.base)})^(${exponent})`;
    }
    case "relation":
      return relation(node.operators, node.operands);
    case "list":
    case "set":
      return `{${node.items.map(written).toSorted().join(",")}}`;
    case "quantity":
      return `${written(node.value)} ${toText(node.unit.factor)} ${node.unit.dimension}`;
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

function flat(node: Node, kind: "add" | "multiply"): readonly Node[] {
  if (node.kind !== kind) return [node];
  return (node.kind === "add" ? node.terms : node.kind === "multiply" ? node.factors : []).flatMap((part) =>
    flat(part, kind),
  );
}

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
