/**
 * 1 - Var(R - V) / Var(R): 1 for a critic that foresees every return, 0 for one that knows their mean; `undefined` where all returns are
 * the same.
 */
export function explainedVariance(values: readonly number[], returns: readonly number[]): number | undefined {
  const variance = (numbers: readonly number[]): number => {
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    return numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const total = variance(returns);
  return total > 0 ? 1 - variance(returns.map((value, i) => value - (values[i] as number))) / total : undefined;
}
