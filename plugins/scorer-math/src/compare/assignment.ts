/** Equations that name a value: `x = 5`, `f(x) = 2x`, `|AB| = 1`, `(p, q) = (3, 2)`. */
import { NotScalar, Undefined } from "../normal/errors.ts";
import * as q from "../exact/rational.ts";
import { call, type Node, type RelationNode } from "../tree/node.ts";
import { isName } from "../tree/name.ts";
import { anywhere, mapChildren, some, variables } from "../tree/walk.ts";
import { approximate } from "../numeric/approximate.ts";
import { asPrinted, isRounding, roundsTo, truncatesTo } from "./decimal.ts";
import type { Unit } from "../units/unit.ts";
import type { Work } from "../work.ts";
import type { Context } from "./context.ts";
import { compareExact } from "./scalar.ts";

/** Whether an equation's left side is a single variable or application. */
export function isVariable(node: Node): boolean {
  return node.kind === "symbol" || node.kind === "text" || (node.kind === "call" && node.name.endsWith("()"));
}

/** Returns true for `\tan\theta` at the head of a chain of equations, where it is the name of their value. */
function isFunctionOfName(node: Node): boolean {
  return node.kind === "call" && node.args.every(isName) && /^(?:sin|cos|tan|cot|sec|csc)$/.test(node.name);
}

/** The names of angles; angles in words. */
const ANGLE = /^(?:[A-Z](?:_\w+)?|angle .*|alpha|beta|gamma|delta|theta|vartheta|phi|varphi|psi|omega)$/;

/**
 * Quantities whose value a problem may ask for: `\cos\theta`, `\sin^2 A`, `a^2 + b^2`, `|a - b|`. In x, y or z, and in one variable
 * that is no angle, it is an equation to solve or a curve.
 */
function isAskedFor(node: Node): boolean {
  const names = [...variables(node)];
  if (names.length === 0 || !/^(?:add|multiply|power|call)$/.test(node.kind)) return false;
  const inner = node.kind === "power" ? node.base : node;
  if (inner.kind === "call" && /^(?:sin|cos|tan|cot|sec|csc)$/.test(inner.name))
    return names.every((name) => ANGLE.test(name));
  return names.length > 1 && !names.some((name) => /^[xyz]$/.test(name));
}

const LETTER = /^[a-z](?:_\w+)?'*$/;
/** x, y and z, and derivatives such as `u_{xx}`. */
const UNKNOWN = /^(?:[xyz](?:_\w+)?|[a-z]_[xyzt]+)'*$/;

/**
 * Whether an equation is to be solved, or states a curve, so that its right side is no value: `ax + by = 3`,
 * `y'' + y = 2`, and with zero also `xy = 0`, `x + y = 0`, `a^2 - 2ab = 0`. The sum of plain letters in `a + b = 0` may
 * be asked for.
 */
function isToSolve({ operands }: RelationNode): boolean {
  const [left, right] = [operands[0], operands.at(-1)] as [Node, Node];
  const isZero = right.kind === "number" && right.value.n === 0n;
  if (operands.length > 2 && !isZero) return false;
  if (left.kind !== "add" && left.kind !== "multiply" && left.kind !== "power") return false;
  const names = [...variables(left)];
  const isMixed = (part: Node): boolean => {
    const letters = part.kind === "multiply" ? [...variables(part)].filter((name) => LETTER.test(name)) : [];
    return letters.some((name) => UNKNOWN.test(name)) && letters.some((name) => !UNKNOWN.test(name));
  };
  const terms = left.kind === "add" ? left.terms : [];
  if (terms.some(isMixed) || names.some((name) => name.endsWith("'") && names.includes(name.replace(/'+$/, ""))))
    return true;
  if (!isZero || !names.some((name) => LETTER.test(name))) return false;
  const isPlain = terms.length > 0 && terms.every((term) => variables(term).size === 1 && isUnitTerm(term));
  return !isPlain || names.some((name) => UNKNOWN.test(name));
}

/** Whether a term is a letter or its negative. */
function isUnitTerm(term: Node): boolean {
  if (term.kind === "symbol") return true;
  const [sign, letter] = term.kind === "multiply" && term.factors.length === 2 ? term.factors : [];
  return sign?.kind === "number" && sign.value.n === -1n && letter?.kind === "symbol";
}

/**
 * Removes the name of a curve from an equation such as `l: y = 2x + 1`, and returns `f: x \mapsto x^2` as `f(x) = x^2`.
 * `AB:CD = 3:4` has a ratio on its left side.
 */
export function withoutCurveName(node: RelationNode): RelationNode {
  const [first, ...others] = node.operands as [Node, ...Node[]];
  if (first.kind === "ratio" && node.operators.join() === "to") {
    const [name, argument] = first.parts as [Node, Node];
    if (first.parts.length === 2 && name.kind === "symbol" && argument.kind === "symbol")
      return { kind: "relation", operators: ["="], operands: [call(`${name.name}()`, argument), ...others] };
  }
  if (first.kind !== "ratio" || first.parts.length !== 2 || node.operators[0] !== "=") return node;
  const [name, side] = first.parts as [Node, Node];
  const isCurve =
    name.kind === "symbol" &&
    others[0]?.kind !== "ratio" &&
    (!isName(side) || others.some((other) => variables(other).size > 0));
  return isCurve ? { ...node, operands: [side, ...others] } : node;
}

/** Returns the name in a relation such as `x = 5`; undefined for a relation without a name. */
export function assignedValue(c: Context, node: RelationNode): Node | undefined {
  const { operands, operators } = node;
  const [first] = operands as [Node];
  if (operators.length === 1 && operators[0] === "in") return isName(first) ? operands[1] : undefined;
  if (operators.every((operator) => operator === "to")) return operands.at(-1);
  if (!operators.every((operator) => operator === "=" || operator === "~")) return undefined;
  if (isToSolve(node)) return undefined;
  const named = isNamed(node);
  const values = named ? operands.slice(1) : operands;
  const approximation = operators.indexOf("~");
  if (approximation >= 0 && !areRoundings(c, node)) return undefined;
  const last = comparedSide(c.work, node);
  if (named) return last;
  const end = operands.at(-1) as Node;
  // `1 = y = x = 0`: the last link gives the value of a variable.
  if (operands.length > 2 && approximation < 0 && isVariable(operands.at(-2) as Node) && !isName(end)) return end;
  if (operands.length === 2 && approximation < 0 && isVariable(end)) return first;
  const compared = approximation >= 0 ? values.slice(0, approximation + 1) : values;
  const exact = last === end || approximation >= 0 ? compared : values.slice(0, -1);
  return exact.every((value) => agrees(c, value, exact[0] as Node)) ? last : undefined;
}

/** Whether the first side of a chain is the name of its value. */
function isNamed({ operands }: RelationNode): boolean {
  const [first, ...others] = operands as readonly [Node, ...Node[]];
  return (
    isName(first) ||
    (isAskedFor(first) && others.every((value) => variables(value).size === 0)) ||
    (others.length > 1 && isFunctionOfName(first))
  );
}

/**
 * Returns the side of a chain of equations and approximations that is its value: the side before the first approximation sign, the exact side before its
 * rounded spelling, else the last one.
 */
export function comparedSide(work: Work, node: RelationNode): Node {
  const { operators, operands } = node;
  const approximation = operators.indexOf("~");
  const from = isNamed(node) ? 1 : 0;
  return approximation >= from ? (operands[approximation] as Node) : beforeRounding(work, operands.slice(from));
}

/** Whether each side behind an approximation sign is a rounding of the side before it, where both are known. */
function areRoundings(c: Context, { operators, operands }: RelationNode): boolean {
  return operators.every((operator, i) => {
    if (operator !== "~") return true;
    const [a, b] = [operands[i], operands[i + 1]] as [Node, Node];
    const [exact, rounded] = [a, b].map((side) => approximate(withoutUnit(side), c.work));
    if (!exact || !rounded) return true;
    if (a.kind === "quantity" && b.kind === "quantity" && a.unit.name !== b.unit.name)
      return a.unit.dimension === b.unit.dimension && isNear(inUnit(exact, a.unit), inUnit(rounded, b.unit));
    return isRounding(exact, withoutUnit(a), rounded, withoutUnit(b));
  });
}

const PI = q.rational(355, 113n);

const inUnit = (value: q.Rational, { factor, hasPi }: Unit): q.Rational =>
  q.multiply(q.multiply(value, factor), hasPi ? PI : q.ONE);

/** Whether a conversion such as 5 miles = 8 km is right within 5 %. */
function isNear(a: q.Rational, b: q.Rational): boolean {
  return q.compare(q.absolute(q.subtract(a, b)), q.multiply(q.rational(1, 20), q.absolute(a))) <= 0;
}

/** Returns the last value, or the exact one before it of which it is only the rounded spelling: `3/7 = 0.43`. */
function beforeRounding(work: Work, values: readonly Node[]): Node {
  const [before, last] = [values.at(-2), values.at(-1) as Node];
  const printed = asPrinted(last);
  if (!before || !printed || some(before, (part) => part.kind === "number" && part.decimals !== undefined)) return last;
  const exact = approximate(withoutUnit(before), work);
  return exact && (roundsTo(exact, printed) || truncatesTo(exact, printed)) ? before : last;
}

/** Whether two links of a chain are not known to differ: a limit or an integral in it may be beyond evaluation. */
function agrees(c: Context, a: Node, b: Node): boolean {
  try {
    const [left, right] = a.kind === "quantity" && b.kind === "quantity" ? [a, b] : [withoutUnits(a), withoutUnits(b)];
    const { verdict } = compareExact(c, left, right);
    return verdict === "equivalent" || (verdict === "undecided" && (isOperator(a) || isOperator(b)));
  } catch (error) {
    if (error instanceof NotScalar || error instanceof Undefined) return false;
    throw error;
  }
}

function withoutUnit(node: Node): Node {
  return node.kind === "quantity" ? node.value : node;
}

/** Returns the numbers before the units of a product or sum: `9 \cdot \$2` compared with `\$18`. */
function withoutUnits(node: Node): Node {
  return node.kind === "quantity" ? node.value : node.kind === "multiply" ? mapChildren(node, withoutUnits) : node;
}

const isOperator = anywhere((part) => part.kind === "call" && /^(?:lim|sum|prod|i*o?int)\b/.test(part.name));

/** Returns `x = 5 = ...` as the two-sided equation between the name and its value. */
export function shortened(c: Context, node: RelationNode): RelationNode {
  if (node.operands.length === 2 || !isName(node.operands[0] as Node)) return node;
  const value = assignedValue(c, node);
  return value ? { kind: "relation", operators: ["="], operands: [node.operands[0] as Node, value] } : node;
}

/** Returns an equation of tuples such as `(x, y) = (1, 2)` as the equations of its components. */
export function componentwise(node: Node): Node {
  if (node.kind !== "relation" || node.operators.length !== 1 || node.operators[0] !== "=") return node;
  const [left, right] = node.operands;
  if (
    left?.kind !== "tuple" ||
    right?.kind !== "tuple" ||
    left.items.length !== right.items.length ||
    !left.items.every(isVariable)
  )
    return node;
  return {
    kind: "list",
    join: "and",
    items: left.items.map((item, i) => ({
      kind: "relation",
      operators: ["="],
      operands: [item, right.items[i] as Node],
    })),
  };
}

/** Whether the node or a part of it is a relation. */
export const hasRelation: (node: Node) => boolean = anywhere((part) => part.kind === "relation");
