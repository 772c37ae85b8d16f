import { type Interval, shareInterval } from "./intervals.ts";

/** Mean probability over tasks that at least one of k samples solves the task. */
export interface PassAtK {
  readonly k: number;
  readonly value: number;
  /** Wilson's, at the effective number of tasks. */
  readonly interval: Interval | null;
  /** Tasks with at least k scored samples; others cannot be estimated and are left out. */
  readonly tasks: number;
}

/**
 * Returns the unbiased estimate for one task from n samples of which c solve it (Chen et al., arXiv 2107.03374, eq. 1), as a product that does not overflow:
 *
 *     1 - C(n-c, k) / C(n, k) = 1 - Π_{i=n-c+1}^{n} (1 - k/i)
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let missed = 1;
  for (let i = n - c + 1; i <= n; i++) missed *= 1 - k / i;
  return 1 - missed;
}

/** Returns estimates for k = 1, 2, 4, ... up to the largest number of samples of a task, and for that number. Empty if each task has one sample. */
export function passAtKs(tasks: readonly { readonly samples: number; readonly solved: number }[]): PassAtK[] {
  const most = Math.max(0, ...tasks.map(({ samples }) => samples));
  if (most < 2) return [];
  const ks = [...new Set([...Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, i) => 2 ** i), most])];
  return ks.map((k) => {
    const estimates = tasks.flatMap(({ samples, solved }) => (samples >= k ? [passAtK(samples, solved, k)] : []));
    const value = estimates.reduce((sum, estimate) => sum + estimate, 0) / estimates.length;
    return { k, value, interval: shareInterval(estimates, estimates.length * most), tasks: estimates.length };
  });
}
