import { LOG_RATIO_LIMIT } from "./surrogate.ts";

/** Estimators of the divergence from the reference at one token (Schulman, "Approximating KL Divergence", 2020). */
export type KlEstimator = "k1" | "k2" | "k3";

/**
 * Value of an estimator and its derivative with respect to logp, d = logp - ref:
 *
 *     k1 = d                 k1' = 1               zero-mean gradient on-policy: alone it does nothing
 *     k2 = d²/2              k2' = d               the reverse-KL gradient on-policy
 *     k3 = e^-d - 1 + d      k3' = 1 - e^-d        the forward-KL gradient on-policy
 */
export function klEstimate(estimator: KlEstimator, logprob: number, reference: number): { value: number; slope: number } {
  const d = Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logprob - reference));
  if (estimator === "k1") return { value: d, slope: 1 };
  if (estimator === "k2") return { value: (d * d) / 2, slope: d };
  const inverse = Math.exp(-d);
  return { value: inverse - 1 + d, slope: 1 - inverse };
}

/**
 * The estimator weighed by the ratio r = π/π_old of its token: r k, with the derivative r (k + k'). With k1 and k3 its expectation under
 * the old policy has the reverse-KL gradient, on-policy and off; with k2 that of E[d²/2], which is another divergence.
 */
export function weightedKl(estimator: KlEstimator, logprob: number, reference: number, ratio: number): { value: number; slope: number } {
  const { value, slope } = klEstimate(estimator, logprob, reference);
  return { value: ratio * value, slope: ratio * (value + slope) };
}
