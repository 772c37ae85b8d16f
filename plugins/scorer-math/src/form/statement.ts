/** Values that a statement states, without the names, containers and relations around them. */
import { comparedSide } from "../compare/assignment.ts";
import { isLabel } from "../compare/solutions.ts";
import { isBasisVector, isName } from "../tree/name.ts";
import { children, factorsOf, some, variables } from "../tree/walk.ts";
import { product, type Node, type RelationNode } from "../tree/node.ts";
import type { Work } from "../work.ts";

export type Statement = {
  /** Values in the order in which they stand. */
  readonly values: readonly Node[];
  /** Relations that are not solved for an unknown: `3x + 5 = 11`. */
  readonly unsolved: readonly RelationNode[];
  /** The rounded spelling that follows a value: 8.66 behind `5\sqrt{3} \approx`. */
  readonly roundings: ReadonlyMap<Node, Node>;
};

type Found = {
  readonly values: Node[];
  readonly unsolved: RelationNode[];
  readonly roundings: Map<Node, Node>;
  readonly work: Work;
};

/** Returns the values of a statement: -3 for `x = -3`, 1 and 2 for `(1, 2]` or `1 < x \le 2`, 140 for `14 * 10 = 140`. */
export function statementOf(node: Node, work: Work): Statement {
  const found: Found = { values: [], unsolved: [], roundings: new Map(), work };
  collect(node, found);
  return found;
}

function collect(node: Node, found: Found): void {
  switch (node.kind) {
    case "text":
    case "namedSet":
      return;
    case "list":
    case "tuple":
    case "set":
    case "matrix":
    case "setOperation":
      for (const child of children(node)) collect(child, found);
      return;
    case "plusminus":
      return collect(node.value, found);
    case "builder":
      // `x \in \mathbb{R}` before the bar names a set, and no value.
      if (node.element.kind === "relation") collect(node.element, found);
      else if (node.element.kind !== "symbol") found.values.push(node.element);
      return collect(node.condition, found);
    case "relation":
      return collectRelation(node, found);
    case "call":
      if (node.name === "where") return collect(node.args[0] as Node, found);
      if (node.name === "modulo()") return collect(node.args[0] as Node, found);
      break;
    case "multiply": {
      const [name, point] = node.factors;
      const isPoint = node.factors.length === 2 && name?.kind === "symbol" && point?.kind === "tuple";
      if (isPoint) return collect(point, found);
      break;
    }
    case "ratio":
      if (isLabel(node)) return collect(node.parts[1] as Node, found);
      break;
    default:
      break;
  }
  found.values.push(...(coordinatesOf(node) ?? [node]));
}

/** Returns the coefficients of a vector such as `2i + 3j`; undefined for other nodes. */
function coordinatesOf(node: Node): readonly Node[] | undefined {
  if (node.kind !== "add" || !some(node, (part) => part.kind === "symbol" && /^[jk]$/.test(part.name)))
    return undefined;
  const coordinates = node.terms.map((term) => {
    if (isBasisVector(term)) return [];
    const factors = factorsOf(term);
    if (factors.length < 2 || !isBasisVector(factors.at(-1) as Node)) return undefined;
    const others = factors.slice(0, -1);
    return others.some((factor) => variables(factor).size > 0) ? undefined : [product(others)];
  });
  return coordinates.includes(undefined) ? undefined : (coordinates as (readonly Node[])[]).flat();
}

function collectRelation(node: RelationNode, found: Found): void {
  const { operators, operands } = node;
  if (operators.every((operator) => operator === "=" || operator === "~" || operator === "to"))
    return collectChain(node, found);
  if (operators.every((operator) => operator === "in" || operator === "notin"))
    return collect(operands.at(-1) as Node, found);
  const isBetween = (operand: Node): boolean => isUnknown(operand) || isCombination(operand);
  const bounds = operands.filter((operand) => !isBetween(operand));
  if (operands.length - bounds.length !== 1 || bounds.some((bound) => variables(bound).size > 0))
    found.unsolved.push(node);
  for (const bound of bounds) collect(bound, found);
}

/** The value of a chain of equations is its last side, or the side before it where the last one is only a name. */
function collectChain(node: RelationNode, found: Found): void {
  const { operands } = node;
  const end = operands.at(-1) as Node;
  const value = isUnknown(end) && operands.length > 1 ? (operands.at(-2) as Node) : end;
  const others = operands.filter((operand) => operand !== value);
  const unknowns = others.filter(isUnknown);
  const mentions = (other: Node, unknown: Node): boolean =>
    [...variables(unknown)].some((name) => variables(other).has(name));
  const isStated =
    variables(value).size > 0
      ? unknowns.some((unknown) => !mentions(value, unknown))
      : unknowns.length > 0 || others.some(isCombination) || others.every((other) => variables(other).size === 0);
  // `x = 2x^2 = 0` repeats an equation behind the name of its unknown. `AB` is one name, whose letters mean nothing.
  const isCircular = unknowns.some(
    (unknown) => !isCombination(unknown) && others.some((other) => !isUnknown(other) && mentions(other, unknown)),
  );
  if (!isStated || isCircular) found.unsolved.push(node);
  const exact = value === end && !node.operators.includes("to") ? comparedSide(found.work, node) : value;
  const before = found.values.length;
  collect(isUnknown(exact) ? value : exact, found);
  if (exact === value) return;
  const { values } = statementOf(value, found.work);
  const stated = found.values.slice(before);
  if (values.length === stated.length)
    for (const [i, part] of stated.entries()) found.roundings.set(part, values[i] as Node);
}

/** Whether a side is the unknown itself. A name in a quotient, such as `1/x`, is still to be solved for. */
export function isUnknown(node: Node): boolean {
  const isNamed = variables(node).size > 0 || node.kind === "text";
  return isNamed && isName(node) && !some(node, (part) => part.kind === "power");
}

/** Whether a side names a value in several letters, as in `a^2 + b^2 = 25`. An equation in one letter has to be solved. */
const isCombination = (node: Node): boolean => variables(node).size > 1;
