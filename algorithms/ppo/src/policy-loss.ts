import {
  clippedSurrogate,
  klEstimate,
  ratioOf,
  ratioSlope,
  type UnitGradients,
  type UnitOutputs,
  weightedKl,
} from "@mrlm/kit/learning";
import { byEpisode } from "./batch.ts";
import type { FrozenEpisode } from "./frozen-batch.ts";
import type { PpoMetrics } from "./metrics.ts";
import type { PpoOptions } from "./options.ts";

/**
 * Computes the gradient of one unit's part of the policy loss, a sum over its tokens:
 *
 *     Σ_t [ w_t clip_t + β KL_t - η H_t ]
 *
 * with the importance weight w_t, the clipped surrogate at r_t = exp(logp_t - old_t) and A_t, the divergence from the reference weighted by r_t (with kl_placement:
 * loss), and the entropy. With `mismatch: drop` tokens of weight 0 are in no term.
 *
 * @param klCoefficient β
 * @param scale factor of the whole gradient
 */
export function policyGradients(
  group: readonly FrozenEpisode[],
  outputs: UnitOutputs,
  options: PpoOptions,
  klCoefficient: number,
  metrics: PpoMetrics,
  scale = 1,
): UnitGradients {
  const logprobs = byEpisode(group, outputs.logprob as Float32Array);
  const gradient = new Float32Array((outputs.logprob as Float32Array).length);
  const entropyGradient = new Float32Array(gradient.length).fill(-options.entropy_coefficient * scale);
  let position = -1;
  for (const [e, { old, advantages, reference, weights }] of group.entries()) {
    for (const [t, logprob] of (logprobs[e] as Float32Array).entries()) {
      position++;
      const weight = weights[t] as number;
      if (options.mismatch === "drop" && weight === 0) {
        entropyGradient[position] = 0;
        continue;
      }
      const ratio = ratioOf(logprob, old[t] as number);
      const advantage = advantages[t] as number;
      const { loss, slope: byRatio } = clippedSurrogate(ratio, advantage, options);
      const slope = byRatio * ratioSlope(logprob, old[t] as number);
      metrics.addToken({
        loss: weight * loss,
        ratio,
        isClipped: slope === 0 && advantage !== 0,
        moved: klEstimate("k3", old[t] as number, logprob).value,
      });
      let total = weight * slope;
      if (reference !== undefined && options.kl_placement === "loss") {
        const kl = weightedKl(options.kl_estimator, logprob, reference[t] as number, old[t] as number);
        total += klCoefficient * kl.slope;
        metrics.addKlLoss(klCoefficient * kl.value);
      }
      gradient[position] = scale * total;
    }
  }
  if (outputs.entropy === undefined) return { logprob: gradient };
  metrics.addEntropy(outputs.entropy);
  return { logprob: gradient, entropy: entropyGradient };
}
