import type { MismatchCorrection, MismatchOptions } from "./mismatch-options.ts";

/** Bound of log-ratios before the exponential: e^10 is far outside of every clip range. */
export const LOG_RATIO_LIMIT = 10;

/** Bounds of the clipped surrogate. */
export interface ClipOptions {
  readonly clip_low: number;
  readonly clip_high: number;
  readonly dual_clip?: number | undefined;
}

/** Returns exp(logp - old), with the difference clipped to ±10. */
export function ratioOf(logprob: number, old: number): number {
  return Math.exp(Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logprob - old)));
}

/** Returns the derivative of {@link ratioOf} with respect to logp: the ratio itself, and 0 beyond the bound. */
export function ratioSlope(logprob: number, old: number): number {
  return Math.abs(logprob - old) > LOG_RATIO_LIMIT ? 0 : ratioOf(logprob, old);
}

/**
 * Returns the clipped surrogate of PPO (arXiv 1707.06347) at a ratio r, as a loss, and its derivative with respect to r (0 where it is clipped):
 *
 *     l = -min(r A, clip(r, 1-ε_low, 1+ε_high) A)       for A < 0 no more than -c A with dual_clip c (arXiv 1912.09729)
 */
export function clippedSurrogate(
  ratio: number,
  advantage: number,
  { clip_low, clip_high, dual_clip }: ClipOptions,
): { loss: number; slope: number } {
  const bounded = Math.max(1 - clip_low, Math.min(1 + clip_high, ratio));
  const free = -ratio * advantage;
  const held = -bounded * advantage;
  const worst = dual_clip !== undefined && advantage < 0 ? -dual_clip * advantage : Number.POSITIVE_INFINITY;
  if (free >= held) return free > worst ? { loss: worst, slope: 0 } : { loss: free, slope: -advantage };
  return { loss: Math.min(held, worst), slope: 0 };
}

/**
 * Returns the importance weight of one token, w = π_trainer,old / π_sampler (arXiv 2505.24034; "Your efficient RL framework secretly brings you
 * off-policy RL training", 2025):
 *
 *     truncate   min(w, cap)                                   (TIS)
 *     mask       w where floor <= w <= cap, else 0; the token stays in every denominator and keeps its other terms   (IcePop, arXiv 2510.18855; MIS)
 *     drop       as mask; the token leaves the batch, and with it every denominator
 *
 * @param floor default 1 / cap
 */
export function mismatchWeight(
  correction: MismatchCorrection,
  cap: number,
  trainer: number,
  sampler: number,
  floor = 1 / cap,
): number {
  if (correction === "none") return 1;
  return bounded(correction, ratioOf(trainer, sampler), floor, cap);
}

/**
 * Returns the importance weight of each token of an episode before and after its bounds. Level `sequence` has the product of the ratios r of all T tokens for
 * each of them, which has no bias and a variance that rises with T; `geometric` its T-th root, that of GSPO (arXiv 2507.18071):
 *
 *     token r_t      sequence Π_i r_i      geometric (Π_i r_i)^(1/T)
 *
 * @param trainer log-probabilities in nats, shape [tokens], as `sampler`
 */
export function mismatchWeights(
  {
    mismatch,
    mismatch_cap: cap,
    mismatch_floor: floor = 1 / cap,
    mismatch_level: level,
  }: Omit<MismatchOptions, "old_policy">,
  trainer: Float32Array,
  sampler: Float32Array,
): { readonly ratios: Float64Array; readonly weights: Float64Array } {
  const logs = Float64Array.from(sampler, (each, t) => (trainer[t] as number) - each);
  const sum = logs.reduce((total, log) => total + log, 0);
  const shared = level === "sequence" ? sum : sum / logs.length;
  const ratios = logs.map((log) => ratioOf(level === "token" ? log : shared, 0));
  return { ratios, weights: ratios.map((ratio) => (mismatch === "none" ? 1 : bounded(mismatch, ratio, floor, cap))) };
}

function bounded(correction: Exclude<MismatchCorrection, "none">, weight: number, floor: number, cap: number): number {
  if (correction === "truncate") return Math.min(weight, cap);
  return weight <= cap && weight >= floor ? weight : 0;
}
