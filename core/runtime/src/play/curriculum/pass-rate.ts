/** Episodes of a task, each weighed by 2^(-age / half-life). Ages are in batches. */
export interface Evidence {
  /** Weighted sum of the episodes' rates, each in [0, 1]. */
  readonly passes: number;
  /** Weighted number of episodes. */
  readonly trials: number;
  /** Batch of which the weights are. */
  readonly at: number;
}

/** Beta distribution of the pass rate of a task. */
export interface Posterior {
  readonly a: number;
  readonly b: number;
}

/** Probabilities that a pass rate is below, in and above the range of admission; their sum is 1. */
export interface Placement {
  readonly hard: number;
  readonly active: number;
  readonly easy: number;
}

export const NO_EVIDENCE: Evidence = { passes: 0, trials: 0, at: 0 };

/** Expected distribution of the pass rates of a level: Beta(strength mean, strength (1 - mean)). */
export interface Prior {
  /** In (0, 1). */
  readonly mean: number;
  /** Episodes as which it counts: few where tasks differ, many where they are alike. */
  readonly strength: number;
}

/** Correlation of two episodes of a task where nothing is known: that of the uniform distribution. */
const UNKNOWN = 1 / 3;
/** Tasks as which it counts. */
const UNKNOWN_TASKS = 4;

/** Prior of a level without measured tasks: the uniform distribution. */
export const UNIFORM: Prior = { mean: 0.5, strength: 2 };

/** Returns evidence at a later batch. */
export function decayed({ passes, trials, at }: Evidence, now: number, halfLife: number): Evidence {
  const weight = 2 ** ((at - now) / halfLife);
  return { passes: passes * weight, trials: trials * weight, at: now };
}

export function posteriorOf({ passes, trials }: Evidence, { mean, strength }: Prior): Posterior {
  return { a: strength * mean + passes, b: strength * (1 - mean) + trials - passes };
}

export function meanOf({ a, b }: Posterior): number {
  return a / (a + b);
}

export function placementOf({ a, b }: Posterior, [low, high]: readonly [number, number]): Placement {
  const hard = betaCdf(low, a, b);
  // The upper tail by itself: 1 - cdf would lose it to rounding.
  const easy = betaCdf(1 - high, b, a);
  return { hard, easy, active: Math.max(0, 1 - hard - easy) };
}

/**
 * Estimates the distribution of the pass rates of a level from the measured tasks, by the moments of the beta-binomial distribution (Kleinman 1973): with rate r of n episodes,
 * Var r = μ (1 - μ) (1/n + (1 - 1/n) ρ), where ρ = 1 / (strength + 1) is the correlation of two episodes of a task. A task weighs its present number of episodes and at most
 * 1, so that tasks that are drawn more often do not weigh more. What is not known counts as one task of rate 1/2, and as {@link UNKNOWN_TASKS} of correlation {@link UNKNOWN}.
 */
export function priorOf(tasks: readonly Evidence[], now: number, halfLife: number): Prior {
  const measured = tasks.filter(({ trials }) => trials > 0);
  const sumOf = (value: (task: Evidence) => number): number =>
    measured.reduce((sum, task) => sum + Math.min(1, decayed(task, now, halfLife).trials) * value(task), 0);
  const weight = sumOf(() => 1);
  const mean = (0.5 + sumOf(({ passes, trials }) => passes / trials)) / (1 + weight);
  const noise = (task: Evidence): number => 1 / Math.max(1, task.trials);
  const excess = sumOf((task) => (task.passes / task.trials - mean) ** 2 / (mean * (1 - mean)) - noise(task));
  const share = sumOf((task) => 1 - noise(task));
  const correlation = (UNKNOWN_TASKS * UNKNOWN + excess) / (UNKNOWN_TASKS + share);
  return { mean, strength: 1 / Math.min(0.95, Math.max(0.02, correlation)) - 1 };
}

/**
 * Probability that a variable of Beta(a, b) is at most x: the regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated by the
 * modified method of Lentz. Relative error below 1e-11 for a, b in [1e-6, 1e4].
 */
export function betaCdf(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast below the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a + 1) - logGamma(b));
  const tiny = 1e-300;
  const nonZero = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let last = 1;
    for (const term of [even, odd]) {
      d = 1 / nonZero(1 + term * d);
      c = nonZero(1 + term / c);
      last = c * d;
      fraction *= last;
    }
    if (Math.abs(last - 1) < 1e-15) break;
  }
  return Math.min(1, front * fraction);
}

/** Coefficients of Lanczos' approximation with g = 7 (Godfrey 2001). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** @param z > 0 */
function logGamma(z: number): number {
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z);
  const [first, ...others] = LANCZOS;
  const sum = others.reduce((total, each, i) => total + each / (z + i), first as number);
  const t = z + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (z - 0.5) * Math.log(t) - t + Math.log(sum);
}
