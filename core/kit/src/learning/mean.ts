import type { Mean } from "@mrlm/spec";

/** A mean of these values; merged means are the mean of all values, however they were split. */
export function meanOf(values: Iterable<number>): Mean {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    sum += value;
    count++;
  }
  return { sum, count };
}

/** The mean over everything that both are means of. */
export function mergeMeans(one: Mean, other: Mean): Mean {
  return { sum: one.sum + other.sum, count: one.count + other.count };
}

/** The number itself; NaN for a mean over nothing. */
export function meanValue(mean: Mean): number {
  return mean.sum / mean.count;
}
