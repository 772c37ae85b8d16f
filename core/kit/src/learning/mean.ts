import type { Mean } from "@mrlm/spec";

/** Returns the mean of values in a form that can be merged. */
export function meanOf(values: Iterable<number>): Mean {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    sum += value;
    count++;
  }
  return { sum, count };
}

/** Returns the mean as a number; NaN for a mean of no values. */
export function meanValue(mean: Mean): number {
  return mean.sum / mean.count;
}
