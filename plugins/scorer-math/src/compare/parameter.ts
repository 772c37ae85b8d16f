/** Families of values with a whole-number parameter: `\frac{\pi}{4} + k\pi, k \in \mathbb{Z}`. */
import * as q from "../exact/rational.ts";
import { difference, negated, number, product, sum, symbol, type Node } from "../tree/node.ts";
import { anywhere, children, mapChildren } from "../tree/walk.ts";
import { equivalent, type Outcome } from "../verdict.ts";
import { approximate } from "../numeric/approximate.ts";
import type { Context } from "./context.ts";
import { compareExact } from "./scalar.ts";

/** The name that every whole-number parameter gets, whatever the answer calls it. */
const PARAMETER = "any integer";

/** Returns both sides with their whole-number parameters under one name, where both have one. */
export function withSameParameter(expected: Node, answer: Node): readonly [Node, Node] {
  const [left, right] = [parameterOf(expected), parameterOf(answer)];
  if (left === undefined || right === undefined) return [expected, answer];
  return [withParameter(expected, left), withParameter(answer, right)];
}

function withParameter(node: Node, name: string): Node {
  if (node.kind === "symbol") return node.name === name ? symbol(PARAMETER) : node;
  return mapChildren(node, (child) => withParameter(child, name));
}

/**
 * Returns the variable of `k \in \mathbb{Z}`, of "where k is an integer", or of a multiple of a turn that nothing
 * explains.
 */
function parameterOf(node: Node): string | undefined {
  if (node.kind === "list") {
    const names = node.items.flatMap((item) => {
      const [name, set] = item.kind === "relation" && item.operators[0] === "in" ? item.operands : [];
      return name?.kind === "symbol" && set?.kind === "namedSet" && set.name === "integers" ? [name.name] : [];
    });
    if (names.length > 0) return names.length === 1 ? names[0] : undefined;
  }
  const words =
    node.kind === "call" && node.name === "where" && node.args[1]?.kind === "text" ? node.args[1].value : "";
  return INTEGER_WORDS.exec(words)?.[1] ?? impliedParameter(node);
}

const INTEGER_WORDS = /\b([a-z])\s*(?:is|are|being|\\in|∈)\s*(?:an?\s+|any\s+|some\s+)*(?:integer|\\mathbb\s*\{?\s*z)/;

/** Returns k in `\frac{\pi}{4} + k\pi` or `30^\circ + 360^\circ k`, where one of k, l, m and n is the only such letter. */
function impliedParameter(node: Node): string | undefined {
  if (!hasTurn(node)) return undefined;
  const found = new Set<string>();
  const visit = (part: Node): void => {
    if (part.kind === "multiply") {
      const factors = part.factors.flatMap((f) => (f.kind === "multiply" ? f.factors : [f]));
      for (const f of factors.some(hasTurn) ? factors : [])
        if (f.kind === "symbol" && /^[klmn]$/.test(f.name)) found.add(f.name);
    } else if (part.kind !== "call" && part.kind !== "power") children(part).forEach(visit);
  };
  visit(node);
  return found.size === 1 ? [...found][0] : undefined;
}

/** Compares the values of two progressions a + kp; undefined if a side is not a progression, or if this cannot be decided. */
export function compareProgressions(c: Context, expected: Node, answer: Node): Outcome | undefined {
  const left = asProgression(c, expected);
  const right = left && asProgression(c, answer);
  if (!left || !right) return undefined;
  const isSame = (a: Node, b: Node): boolean => compareExact(c, a, b).verdict === "equivalent";
  if (!isSame(left.step, right.step) && !isSame(left.step, negated(right.step))) return undefined;
  const gap = difference(left.start, right.start);
  const [distance, step] = [approximate(gap, c.work), approximate(left.step, c.work)];
  if (!distance || !step || step.n === 0n) return undefined;
  const turns = q.floor(q.add(q.divide(distance, step), q.HALF));
  const isWhole = isSame(gap, product([number(turns), left.step]));
  return isWhole ? equivalent("structure", "the same values for whole numbers") : undefined;
}

type Progression = { readonly start: Node; readonly step: Node };

const hasParameter = anywhere((part) => part.kind === "symbol" && part.name === PARAMETER);
const hasTurn = anywhere(
  (part) => (part.kind === "constant" && part.name === "pi") || (part.kind === "quantity" && part.unit.hasPi),
);

function asProgression(c: Context, node: Node): Progression | undefined {
  if (!hasParameter(node)) return undefined;
  const at = (value: bigint): Node => {
    const put = (part: Node): Node =>
      part.kind === "symbol" && part.name === PARAMETER ? number(value) : mapChildren(part, put);
    return put(node);
  };
  const start = at(0n);
  const step = difference(at(1n), start);
  const third = sum([start, product([number(2), step])]);
  return compareExact(c, at(2n), third).verdict === "equivalent" ? { start, step } : undefined;
}
