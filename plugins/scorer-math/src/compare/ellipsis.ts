/** `1, 2, ..., 10` and `1 + 2 + ... + 10`: what an ellipsis between numbers leaves out. */
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { number, type Node } from "../tree/node.ts";
import { anywhere, mapChildren, some } from "../tree/walk.ts";

const MOST_ITEMS = 200n;
const MOST_TERMS = 100_000n;

function isEllipsis(node: Node): boolean {
  return node.kind === "symbol" && node.name === "...";
}

export const hasEllipsis: (node: Node) => boolean = anywhere(isEllipsis);

/**
 * Returns the items with an ellipsis between whole numbers filled in; the same items where it stands for something
 * else.
 */
export function withoutEllipsis(items: readonly Node[]): readonly Node[] {
  const at = items.findIndex(isEllipsis);
  const before = wholeNumber(items[at - 1]);
  const after = wholeNumber(items[at + 1]);
  if (at < 1 || before === undefined || after === undefined) return items;
  const first = wholeNumber(items[at - 2]);
  const step = first === undefined ? (after > before ? 1n : -1n) : before - first;
  if (step === 0n || (after - before) % step !== 0n) return items;
  const count = (after - before) / step - 1n;
  if (count < 0n || count > MOST_ITEMS) return items;
  const filled = Array.from({ length: Number(count) }, (_, i) => number(before + step * BigInt(i + 1)));
  return [...items.slice(0, at), ...filled, ...items.slice(at + 1)];
}

function wholeNumber(node: Node | undefined): bigint | undefined {
  return node?.kind === "number" && node.value.d === 1n ? node.value.n : undefined;
}

/** Returns the expression with sums such as `1 + 2 + ... + 10` and `1 + 1/2 + 1/4 + ...` carried out. */
export function withoutEllipsisTerms(node: Node): Node {
  if (!hasEllipsis(node) || !some(node, (part) => sumOf(part) !== undefined)) return node;
  const carriedOut = (part: Node): Node => sumOf(part) ?? mapChildren(part, carriedOut);
  return carriedOut(node);
}

function sumOf(node: Node): Node | undefined {
  const terms = node.kind === "add" ? node.terms : [];
  const at = terms.findIndex(isEllipsis);
  const values = terms.slice(0, at).map((term) => (term.kind === "number" ? term.value : undefined));
  if (values.length < 2 || values.includes(undefined) || terms.length > at + 2) return undefined;
  const last = terms[at + 1];
  if (last && last.kind !== "number") return undefined;
  const total = last ? ofSeries(values as Rational[], last.value) : ofInfiniteSeries(values as Rational[]);
  return total && number(total);
}

/** Returns an arithmetic progression up to `last`; with three terms also a geometric one. */
function ofSeries(values: readonly Rational[], last: Rational): Rational | undefined {
  const [a, b] = values as [Rational, Rational];
  const step = q.subtract(b, a);
  const isArithmetic = values.every(
    (value, i) => i === 0 || q.equals(q.subtract(value, values[i - 1] as Rational), step),
  );
  if (isArithmetic && step.n !== 0n) {
    const count = q.add(q.divide(q.subtract(last, a), step), q.ONE);
    const isReached = q.isInteger(count) && count.n > BigInt(values.length) && count.n < MOST_TERMS;
    return isReached ? q.multiply(q.multiply(q.add(a, last), count), q.HALF) : undefined;
  }
  const ratio = commonRatio(values);
  if (!ratio || ratio.n === 0n || q.equals(q.absolute(ratio), q.ONE)) return undefined;
  let term = values.at(-1) as Rational;
  for (let k = 0; k < 200; k++) {
    term = q.multiply(term, ratio);
    if (q.equals(term, last)) return q.divide(q.subtract(q.multiply(last, ratio), a), q.subtract(ratio, q.ONE));
  }
  return undefined;
}

function ofInfiniteSeries(values: readonly Rational[]): Rational | undefined {
  const ratio = commonRatio(values);
  return ratio && q.compare(q.absolute(ratio), q.ONE) < 0
    ? q.divide(values[0] as Rational, q.subtract(q.ONE, ratio))
    : undefined;
}

/** Returns the ratio of a geometric progression that shows at least three terms. */
function commonRatio(values: readonly Rational[]): Rational | undefined {
  const [a, b] = values as [Rational, Rational];
  if (values.length < 3 || values.some((value) => value.n === 0n)) return undefined;
  const ratio = q.divide(b, a);
  return values.every((value, i) => i === 0 || q.equals(q.divide(value, values[i - 1] as Rational), ratio))
    ? ratio
    : undefined;
}
