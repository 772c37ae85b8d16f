import { randomStream } from "@mrlm/kit";

/** A 95 % confidence interval: its lower and upper end. */
export type Interval = readonly [number, number];

const Z = 1.959964;
const RESAMPLES = 2_000;

/**
 * Returns Wilson's score interval of a proportion (Journal of the American Statistical Association 22, 1927):
 *
 *     (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)
 *
 * @param n independent observations, not necessarily a whole number; no interval without any
 */
export function wilsonInterval(proportion: number, n: number): Interval | null {
  if (n === 0) return null;
  const centre = proportion + (Z * Z) / (2 * n);
  const reach = Z * Math.sqrt((proportion * (1 - proportion)) / n + (Z * Z) / (4 * n * n));
  const scale = 1 + (Z * Z) / n;
  return [Math.max(0, (centre - reach) / scale), Math.min(1, (centre + reach) / scale)];
}

/**
 * Returns Wilson's interval of the mean of shares, one for each task, at the effective sample size p(1-p) / SE², SE being the standard error of that mean (Korn and
 * Graubard, Survey Methodology 24, 1998; Franco et al., Journal of Survey Statistics and Methodology 7, 2019). It is the number of tasks where every share is 0
 * or 1, and at most that of the episodes behind the shares.
 *
 * @param shares between 0 and 1
 * @param episodes behind all of them
 */
export function shareInterval(shares: readonly number[], episodes: number): Interval | null {
  const n = shares.length;
  const p = shares.reduce((sum, share) => sum + share, 0) / n;
  const squares = shares.reduce((sum, share) => sum + (share - p) ** 2, 0);
  if (n < 2 || p === 0 || p === 1) return wilsonInterval(p, n);
  // n in the denominator: the effective size of shares that are 0 or 1 is then exactly n.
  return wilsonInterval(p, Math.min(episodes, (p * (1 - p)) / (squares / n / n)));
}

/**
 * Computes the percentile bootstrap of a ratio of sums (Efron, The Annals of Statistics 7, 1979; 2,000 resamples from a fixed stream, so the same numbers give the same
 * interval): the mean over everything in the clusters, the clusters being what is drawn. Episodes of one task resemble each other, and counting each as
 * independent would make intervals too narrow (arXiv 2411.00640).
 *
 * @param clusters sum and count of each; no interval for fewer than two
 */
export function bootstrapInterval(
  clusters: readonly { readonly sum: number; readonly count: number }[],
): Interval | null {
  const filled = clusters.filter(({ count }) => count > 0);
  if (filled.length < 2) return null;
  const random = randomStream("bootstrap", filled.length);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    let count = 0;
    for (let i = 0; i < filled.length; i++) {
      const drawn = filled[Math.floor(random.next() * filled.length)] as (typeof filled)[number];
      sum += drawn.sum;
      count += drawn.count;
    }
    return sum / count;
  }).sort();
  return [means[Math.floor(0.025 * RESAMPLES)] as number, means[Math.ceil(0.975 * RESAMPLES) - 1] as number];
}
