import { defined } from "@mrlm/kit";
import { klEstimate, mismatchWeights, type UnitGradients, type UnitOutputs, weightedKl } from "@mrlm/kit/learning";
import { distilledAdvantage } from "./advantages.ts";
import { tokenWeight } from "./aggregation.ts";
import type { LossMetrics } from "./loss-metrics.ts";
import type { GrpoSettings } from "./options.ts";
import { policyLosses } from "./losses/index.ts";
import type { GroupSample } from "./samples.ts";

/** Frozen log-probabilities of one unit at its masked positions, concatenated over its rows. */
export interface FrozenLogprobs {
  /** Log-probabilities of the trainer before the first update. Absent during the first update, where they equal the current ones. */
  readonly old?: Float32Array;
  /** Of the reference, which is the teacher with `distill_coefficient`. */
  readonly reference?: Float32Array;
}

/**
 * Computes the gradient of one group's part of the loss, and its metrics:
 *
 *     Σ_t w_t [ c_t l_t + β KL_t - η H_t ]
 *
 * with the surrogate l, the aggregation's weight w, the mismatch weight c, the divergence from the reference and the entropy H.
 *
 * @param isMismatchCounted whether the metrics compare trainer and sampler. They compare each token once, with the weights that sampled the batch.
 */
export function unitLoss(
  group: GroupSample,
  frozen: FrozenLogprobs,
  outputs: UnitOutputs,
  options: GrpoSettings,
  metrics: LossMetrics,
  isMismatchCounted: boolean,
): UnitGradients {
  const logprob = outputs.logprob as Float32Array;
  const gradient = new Float32Array(logprob.length);
  const entropyGradient = options.entropy_coefficient > 0 ? new Float32Array(logprob.length) : undefined;
  let start = 0;
  for (const episode of group.episodes) {
    const { sampled, age } = episode;
    const end = start + sampled.length;
    const current = logprob.subarray(start, end);
    const trainerOld = frozen.old?.subarray(start, end) ?? current;
    const old = options.old_policy === "sampler" ? sampled : trainerOld;
    const weight = tokenWeight(episode, options.aggregation);
    const { ratios, weights: corrections } = mismatchWeights(options, trainerOld, sampled);
    if (isMismatchCounted)
      for (const [t, ratio] of ratios.entries())
        metrics.mismatch.add(trainerOld[t] as number, sampled[t] as number, ratio, corrections[t] as number);
    const weights = corrections.map((correction) => weight * correction);
    const reference = frozen.reference?.subarray(start, end);
    const advantage = distilledAdvantage(episode.advantage, old, reference, options);
    const policy = policyLosses({ logprobs: current, old, weights, advantage, age }, options);
    metrics.addPolicy(policy, weights);
    for (let t = 0; t < current.length; t++) {
      let slope = policy.gradient[t] as number;
      if (reference !== undefined) {
        const [logprob, target] = [current[t] as number, reference[t] as number];
        if (options.kl_coefficient > 0) {
          const kl = options.kl_importance
            ? weightedKl(options.kl_estimator, logprob, target, old[t] as number)
            : klEstimate(options.kl_estimator, logprob, target);
          slope += weight * options.kl_coefficient * kl.slope;
          metrics.addKl(logprob, target, weight * options.kl_coefficient * kl.value);
        } else metrics.addTeacher(logprob, target);
      }
      gradient[start + t] = slope;
      if (entropyGradient !== undefined) entropyGradient[start + t] = -weight * options.entropy_coefficient;
    }
    start = end;
  }
  if (outputs.entropy !== undefined) metrics.addEntropy(outputs.entropy);
  return { logprob: gradient, ...defined({ entropy: entropyGradient }) };
}
