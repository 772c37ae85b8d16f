const Z_TWO_SIDED_95 = 1.959964;
const Z_POWER_80 = 0.841621;

/**
 * Returns the number of tasks at which a difference of means is found by a two-sided test at 5 % with a power of 80 %:
 *
 *     n = (z_{0.975} + z_{0.8})² variance / difference²
 *
 * (arXiv 2411.00640, section 5; the same as in Chow et al., Sample Size Calculations in Clinical Research, section 3.1).
 * @param variance of the differences of a task; of two independent models the sum of their variances
 */
export function tasksToShow(variance: number, difference = 0.05): number | null {
  // Sums of floating-point numbers leave a remainder where all are equal.
  return variance < 1e-12 ? null : Math.ceil(((Z_TWO_SIDED_95 + Z_POWER_80) ** 2 * variance) / difference ** 2);
}

/** Returns the difference of means that a number of tasks shows: the inverse of {@link tasksToShow}. */
export function differenceToShow(tasks: number, variance: number): number {
  return (Z_TWO_SIDED_95 + Z_POWER_80) * Math.sqrt(variance / tasks);
}

/** Returns the variance of values with n - 1 in its denominator; 0 for fewer than two. */
export function variance(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}
