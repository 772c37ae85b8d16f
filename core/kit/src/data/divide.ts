import { hash64 } from "../hash.ts";

/** Rows for training and rows for evaluation. */
export interface Division<T> {
  readonly train: readonly T[];
  readonly eval: readonly T[];
}

/**
 * Divides rows into training and evaluation by content: rows whose questions differ only in white space or case are on the same side. Questions are ranked
 * by a hash of their text and the seed, and the first `share` of them are for evaluation. The order of the file has no effect. If `share` is
 * between 0 and 1 and there are at least two questions, both sides have rows.
 */
export function divide<T extends { readonly question: string }>(
  rows: readonly T[],
  share: number,
  seed: number,
): Division<T> {
  const rank = new Map(rows.map(({ question }) => [contentOf(question), hash64(contentOf(question), seed)]));
  const ranked = [...rank.keys()].toSorted(
    (one, other) => compare(rank.get(one) as bigint, rank.get(other) as bigint) || compare(one, other),
  );
  const wanted = Math.round(share * ranked.length);
  const count = share === 0 || share === 1 ? wanted : Math.min(Math.max(wanted, 1), ranked.length - 1);
  const held = new Set(ranked.slice(0, count));
  const isHeld = ({ question }: T): boolean => held.has(contentOf(question));
  return { train: rows.filter((row) => !isHeld(row)), eval: rows.filter(isHeld) };
}

function contentOf(question: string): string {
  return question.trim().replaceAll(/\s+/g, " ").toLowerCase();
}

function compare<T extends bigint | string>(one: T, other: T): number {
  return one < other ? -1 : Number(one > other);
}
