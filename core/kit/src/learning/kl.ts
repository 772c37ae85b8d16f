import { LOG_RATIO_LIMIT, ratioOf, ratioSlope } from "./ratios.ts";

/** Estimator of the KL divergence from the reference at one token (Schulman, "Approximating KL Divergence", 2020). */
export type KlEstimator = "k1" | "k2" | "k3";

/**
 * Returns the value of an estimator and its derivative with respect to logp, where d = logp - ref is clipped to ±10 (the derivative is 0 beyond):
 *
 *     k1 = d                 k1' = 1               zero-mean gradient on-policy: no effect alone
 *     k2 = d²/2              k2' = d               the reverse-KL gradient on-policy
 *     k3 = e^-d - 1 + d      k3' = 1 - e^-d        the forward-KL gradient on-policy
 */
export function klEstimate(
  estimator: KlEstimator,
  logprob: number,
  reference: number,
): { value: number; slope: number } {
  const d = Math.max(-LOG_RATIO_LIMIT, Math.min(LOG_RATIO_LIMIT, logprob - reference));
  const within = Math.abs(logprob - reference) > LOG_RATIO_LIMIT ? 0 : 1;
  if (estimator === "k1") return { value: d, slope: within };
  if (estimator === "k2") return { value: (d * d) / 2, slope: within * d };
  const inverse = Math.exp(-d);
  return { value: inverse - 1 + d, slope: within * (1 - inverse) };
}

/**
 * Returns the estimator weighted by the ratio r = π/π_old of its token. Its expectation under the old policy has the reverse-KL gradient, on- and off-policy:
 *
 *     k1, k3   r k         derivative r (k + k')     both factors are differentiated
 *     k2       sg(r) k     derivative r k'           a derivative of r too would give the gradient of E[d²/2], another divergence
 */
export function weightedKl(
  estimator: KlEstimator,
  logprob: number,
  reference: number,
  old: number,
): { value: number; slope: number } {
  const { value, slope } = klEstimate(estimator, logprob, reference);
  const ratio = ratioOf(logprob, old);
  return { value: ratio * value, slope: ratio * slope + (estimator === "k2" ? 0 : ratioSlope(logprob, old) * value) };
}
