import { type Interval, shareInterval } from "./intervals.ts";

/** Mean probability over tasks that at least one of k samples solves the task, and that each of them does. */
export interface PassAtK {
  readonly k: number;
  /** pass@k */
  readonly value: number;
  /** Wilson's, at the effective number of tasks. */
  readonly interval: Interval | null;
  /** pass^k, with its interval. */
  readonly all: { readonly value: number; readonly interval: Interval | null };
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

/**
 * Returns the unbiased estimate for one task that each of k samples solves it, from n samples of which c do (Yao et al., arXiv 2406.12045, section 5.1):
 *
 *     C(c, k) / C(n, k) = Π_{i=0}^{k-1} (c - i) / (n - i)
 */
export function passAllK(n: number, c: number, k: number): number {
  if (c < k) return 0;
  let passed = 1;
  for (let i = 0; i < k; i++) passed *= (c - i) / (n - i);
  return passed;
}

/** Samples of a task, of which some solve it. */
interface SampledTask {
  /** Text that tasks have in common which are one to the policy. */
  readonly cluster: string;
  readonly samples: number;
  readonly solved: number;
}

/** Returns estimates for k = 1, 2, 4, ... up to the largest number of samples of a task, and for that number. Empty if each task has one sample. */
export function passAtKs(tasks: readonly SampledTask[]): PassAtK[] {
  const most = Math.max(0, ...tasks.map(({ samples }) => samples));
  if (most < 2) return [];
  const ks = [...new Set([...Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, i) => 2 ** i), most])];
  return ks.map((k) => {
    const enough = tasks.filter(({ samples }) => samples >= k);
    const estimated = (estimate: typeof passAtK): PassAtK["all"] => {
      const shares = enough.map(({ samples, solved }) => estimate(samples, solved, k));
      const different = Map.groupBy(shares.keys(), (i) => enough[i]?.cluster);
      const means = Array.from(different.values(), (same) => mean(same.map((i) => shares[i] as number)));
      return { value: mean(shares), interval: shareInterval(means, shares.length * most) };
    };
    return { k, ...estimated(passAtK), all: estimated(passAllK), tasks: enough.length };
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
