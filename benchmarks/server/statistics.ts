/** Smallest of the numbers that at least this share of them does not exceed. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}
