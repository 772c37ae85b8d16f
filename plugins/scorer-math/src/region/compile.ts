/** From expression trees (intervals, unions, inequalities, sets of numbers, conditions) to regions. */
import { difference, symbol, type ListNode, type Node, type RelationNode, type TupleNode } from "../tree/node.ts";
import { show } from "../tree/show.ts";
import { anywhere, infinitySign, variables } from "../tree/walk.ts";
import type { Work } from "../work.ts";
import { isName } from "../tree/name.ts";
import { bothSigns, hasPlusMinus } from "../tree/plusminus.ts";
import { complement, isEmpty, LINE, NOTHING, pointRegion, type Region, type SameEnd } from "./region.ts";
import { endOf, solve, type Comparison } from "./solve.ts";

/** Maximal number of conditions: answers have few, and the time is quadratic. */
const MOST_CONDITIONS = 40;

export type Compiler = {
  readonly work: Work;
  readonly isSame: SameEnd;
  /** Whether this is inside a set builder, in which an equation selects the numbers of the set. */
  readonly solvesEquations?: true;
};

const hasInfinity = anywhere((part) => part.kind === "constant" && part.name === "infinity");

/** Whether a node is written as a set of reals, so that comparing regions makes sense. */
export function looksLikeRegion(node: Node): boolean {
  switch (node.kind) {
    case "setOperation":
    case "builder":
    case "namedSet":
      return true;
    case "relation":
      return node.operators.some(
        (operator) => operator !== "=" && operator !== "~" && operator !== "equiv" && operator !== "to",
      );
    case "tuple":
      return node.items.length === 2 && (node.open === "square" || node.close === "square" || hasInfinity(node));
    case "list":
      return node.items.some(looksLikeRegion);
    case "call":
      return node.name === "where" && looksLikeRegion(node.args[0] as Node);
    default:
      return false;
  }
}

/** Returns the region that a node describes; undefined when it is none or has ends that are no constants. */
export function compileRegion(c: Compiler, node: Node): Region | undefined {
  if (hasPlusMinus(node) && node.kind !== "list" && node.kind !== "relation")
    return union(bothSigns(node).map((part) => compileRegion(c, part)));
  switch (node.kind) {
    case "tuple":
      return interval(c, node);
    case "set":
      return union(node.items.map((item) => (isSetLike(item) ? undefined : compileRegion(c, item))));
    case "setOperation": {
      const parts = node.sets.map((set) => compileRegion(c, set));
      if (node.name === "union") return union(parts);
      if (node.name === "intersection") return intersection(parts);
      const [first, ...removed] = parts;
      return intersection([first, ...removed.map((part) => part && complement(part))]);
    }
    case "namedSet":
      return node.name === "reals" ? LINE : node.name === "empty" ? NOTHING : undefined;
    case "builder":
      return builder(c, node.element, node.condition);
    case "relation":
      return relation(c, node);
    case "list":
      return list(c, node);
    case "call":
      if (node.name === "where") return compileRegion(c, node.args[0] as Node);
      return point(c, node);
    case "text":
    case "matrix":
    case "ratio":
      return undefined;
    default:
      return point(c, node);
  }
}

/** Sets and tuples as items of a set are no numbers. */
function isSetLike(node: Node): boolean {
  return node.kind === "set" || node.kind === "tuple" || node.kind === "namedSet" || node.kind === "setOperation";
}

function point(c: Compiler, node: Node): Region | undefined {
  const end = endOf(node, c.work);
  return end && pointRegion(end);
}

function union(parts: readonly (Region | undefined)[]): Region | undefined {
  return parts.includes(undefined) ? undefined : { kind: "union", parts: parts as Region[] };
}

function intersection(parts: readonly (Region | undefined)[]): Region | undefined {
  return parts.includes(undefined) ? undefined : { kind: "intersection", parts: parts as Region[] };
}

function interval(c: Compiler, node: TupleNode): Region | undefined {
  const [low, high] = node.items;
  if (node.items.length !== 2 || !low || !high || node.open === "angle") return undefined;
  const lowEnd = infinitySign(low) === -1 ? undefined : endOf(low, c.work);
  const highEnd = infinitySign(high) === 1 ? undefined : endOf(high, c.work);
  if ((!lowEnd && infinitySign(low) !== -1) || (!highEnd && infinitySign(high) !== 1)) return undefined;
  if (lowEnd && highEnd && lowEnd.approx > highEnd.approx) return undefined;
  return {
    kind: "interval",
    lowClosed: lowEnd !== undefined && node.open === "square",
    highClosed: highEnd !== undefined && node.close === "square",
    ...(lowEnd ? { low: lowEnd } : {}),
    ...(highEnd ? { high: highEnd } : {}),
  };
}

function builder(c: Compiler, element: Node, condition: Node): Region | undefined {
  if (element.kind === "symbol") return compileRegion({ ...c, solvesEquations: true }, condition);
  if (element.kind === "relation" && element.operators[0] === "in" && element.operands[0]?.kind === "symbol")
    return intersection([compileRegion(c, element), compileRegion(c, condition)]);
  return undefined;
}

function relation(c: Compiler, node: RelationNode): Region | undefined {
  if (hasPlusMinus(node) && !node.operators.includes("!="))
    return union(bothSigns(node).map((part) => compileRegion(c, part)));
  const parts: (Region | undefined)[] = [];
  const operands = node.operands.map(asUnknown);
  for (const [i, operator] of node.operators.entries()) {
    const left = operands[i] as Node;
    const right = operands[i + 1] as Node;
    if (operator === "in" || operator === "notin") {
      const set = compileRegion(c, right);
      parts.push(set && operator === "notin" ? complement(set) : set);
      continue;
    }
    if (operator === "!=" && (right.kind === "list" || hasPlusMinus(right))) {
      const set = compileRegion(c, right);
      parts.push(set && complement(set));
      continue;
    }
    parts.push(inequality(c, left, operator, right));
  }
  return intersection(parts);
}

/** Returns `g(t)` or `a + b` as the one unknown that a condition is about: `0 < g(t) < 1`. */
export function asUnknown(node: Node): Node {
  if (node.kind === "call" && node.name === "abs") return { ...node, args: node.args.map(asUnknown) };
  const isApplication = node.kind === "call" && node.name.endsWith("()") && isName(node);
  const isCombination = (node.kind === "add" || node.kind === "multiply") && variables(node).size > 1;
  return isApplication || isCombination ? symbol(show(node)) : node;
}

function inequality(
  c: Compiler,
  left: Node,
  operator: RelationNode["operators"][number],
  right: Node,
): Region | undefined {
  const ends = [left, right].map(infinitySign);
  if (
    ends.some((sign) => sign !== 0) &&
    (operator === "<" || operator === ">" || operator === "<=" || operator === ">=")
  ) {
    const isLess = operator === "<" || operator === "<=";
    return (ends[0] ?? 0) * (isLess ? -1 : 1) > 0 || (ends[1] ?? 0) * (isLess ? 1 : -1) > 0 ? LINE : NOTHING;
  }
  const flipped: Readonly<Record<string, readonly [Node, Comparison]>> = {
    "<": [difference(left, right), "<"],
    "<=": [difference(left, right), "<="],
    ">": [difference(right, left), "<"],
    ">=": [difference(right, left), "<="],
    "=": [difference(left, right), "="],
    "!=": [difference(left, right), "!="],
  };
  const normal = flipped[operator];
  if (!normal) return undefined;
  const names = [...variables(normal[0])];
  if (
    names.length !== 1 ||
    (operator === "=" && !c.solvesEquations && left.kind !== "symbol" && right.kind !== "symbol")
  )
    return undefined;
  return solve(normal[0], normal[1], names[0] as string, c.work);
}

/** Commas between conditions mean "and", unless nothing satisfies them all ("and" itself always does); between sets and numbers "or". */
function list(c: Compiler, node: ListNode): Region | undefined {
  if (node.items.length > MOST_CONDITIONS) return undefined;
  const [first, ...others] = node.items;
  if (
    first?.kind === "relation" &&
    first.operators.length === 1 &&
    first.operators[0] === "!=" &&
    others.every((item) => item.kind !== "relation")
  ) {
    // `x \ne 1, 2`
    const excluded = union([first.operands[1] as Node, ...others].map((item) => compileRegion(c, item)));
    return excluded && complement(excluded);
  }
  const parts = node.items.map((item) => compileRegion(c, item));
  const isCondition = (item: Node): boolean =>
    item.kind === "relation" && item.operators.some((operator) => operator !== "=" && operator !== "~");
  if (node.join === "or" || !node.items.every(isCondition)) return union(parts);
  const both = intersection(parts);
  return node.join === "comma" && both && isEmpty(both, c.isSame) ? union(parts) : both;
}
