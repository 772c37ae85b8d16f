/**
 * Returns 1 - Var(R - V) / Var(R): 1 where every value equals its return, 0 where every value is the mean return; `undefined` where all returns are
 * equal.
 */
export function explainedVariance(values: readonly number[], returns: readonly number[]): number | undefined {
  const variance = (numbers: readonly number[]): number => {
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    return numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const total = variance(returns);
  return total > 0 ? 1 - variance(returns.map((value, i) => value - (values[i] as number))) / total : undefined;
}
