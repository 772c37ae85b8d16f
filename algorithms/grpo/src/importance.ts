import { ratioOf } from "@mrlm/kit/learning";

/** Correction for a trainer whose log-probabilities differ from the sampler's. */
export type MismatchCorrection = "none" | "truncate" | "mask" | "drop";

/**
 * Returns the importance weight of one token, w = π_trainer,old / π_sampler (arXiv 2505.24034; "Your efficient RL framework secretly brings you
 * off-policy RL training", 2025):
 *
 *     truncate   min(w, cap)
 *     mask       w where 1/cap <= w <= cap, else 0; the token stays in every denominator and keeps its other terms
 *     drop       as mask; the token leaves the batch, and with it every denominator
 */
export function mismatchWeight(correction: MismatchCorrection, cap: number, trainer: number, sampler: number): number {
  if (correction === "none") return 1;
  const weight = ratioOf(trainer, sampler);
  if (correction === "truncate") return Math.min(weight, cap);
  return weight <= cap && weight >= 1 / cap ? weight : 0;
}
