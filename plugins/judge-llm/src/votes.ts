import type { Unscored } from "@mrlm/kit";

/** Votes that have a verdict; or, where they are no majority, the failure of the first vote without one. */
export type Votes<T> = { readonly answered: readonly T[] } | { readonly failure: Unscored };

/** Returns the verdicts of the votes, if more than half of the votes have one. */
export function majorityOf<T>(votes: readonly ({ readonly answered: T } | { readonly failure: Unscored })[]): Votes<T> {
  const answered = votes.flatMap((vote) => ("answered" in vote ? [vote.answered] : []));
  if (answered.length > votes.length / 2) return { answered };
  return { failure: votes.flatMap((vote) => ("failure" in vote ? [vote.failure] : []))[0] as Unscored };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
