/** Whole numbers between two bounds: `2 \\le n \\le 5, n \\in \\mathbb{Z}`. */
import * as q from "../exact/rational.ts";
import { number, type Node } from "../tree/node.ts";

/** More numbers are not written out. */
const MOST_NUMBERS = 200n;

/** Returns the numbers that satisfy both conditions as a set; undefined for other conditions. */
export function wholeNumbersBetween(bounds: Node, membership: Node): Node | undefined {
  if (bounds.kind !== "relation" || bounds.operands.length !== 3 || membership.kind !== "relation") return undefined;
  const [name, set] = membership.operands;
  const isDescending = bounds.operators.every((operator) => operator === ">" || operator === ">=");
  const isAscending = bounds.operators.every((operator) => operator === "<" || operator === "<=");
  if (set?.kind !== "namedSet" || !/^(?:integers|naturals)$/.test(set.name) || (!isAscending && !isDescending))
    return undefined;
  const [operands, operators] = isAscending
    ? [bounds.operands, bounds.operators]
    : [[...bounds.operands].reverse(), [...bounds.operators].reverse()];
  const [low, middle, high] = operands as [Node, Node, Node];
  if (
    low.kind !== "number" ||
    high.kind !== "number" ||
    middle.kind !== "symbol" ||
    name?.kind !== "symbol" ||
    middle.name !== name.name
  )
    return undefined;
  const isStrict = operators.map((operator) => operator.length === 1);
  const floor = q.floor(low.value);
  const first = q.isInteger(low.value) && !isStrict[0] ? floor : floor + 1n;
  const last = q.isInteger(high.value) && isStrict[1] ? q.floor(high.value) - 1n : q.floor(high.value);
  // Whether zero is a natural number is not agreed on.
  if (last < first || last - first >= MOST_NUMBERS || (set.name === "naturals" && first < 1n)) return undefined;
  return { kind: "set", items: Array.from({ length: Number(last - first) + 1 }, (_, i) => number(first + BigInt(i))) };
}
