import type { PpoEpisode } from "./batch.ts";
import { generalizedAdvantages } from "./gae.ts";
import type { PpoOptions } from "./options.ts";

/** Values of an episode before the first update, and the advantages and targets that follow from them. */
export interface Estimate {
  readonly values: Float32Array;
  readonly advantages: Float64Array;
  /** Targets of the critic. */
  readonly targets: Float64Array;
  /** Discounted sums of the observed rewards, for metrics of the critic. */
  readonly returns: Float64Array;
}

/** Frozen inputs of an estimate. */
export interface EstimateParts {
  readonly values: Float32Array;
  /** Value of the state after the last token; 0 where the episode terminated. */
  readonly finalValue: number;
  /** Log-probabilities of policy and reference, where the divergence is subtracted from the reward. */
  readonly divergence?: { readonly old: Float32Array; readonly reference: Float32Array; readonly coefficient: number };
}

/** Computes advantages and targets of one episode. */
export function estimate(
  { rewards: earned }: PpoEpisode,
  { values, finalValue, divergence }: EstimateParts,
  options: PpoOptions,
): Estimate {
  const rewards = divergence === undefined ? earned : charged(earned, divergence, options.kl_clip);
  const under = (lambda: number): Float64Array =>
    generalizedAdvantages({ rewards, values, finalValue }, options.gamma, lambda);
  const plusValues = (advantages: Float64Array): Float64Array =>
    advantages.map((advantage, t) => advantage + (values[t] as number));
  const advantages = under(options.gae_lambda);
  return {
    values,
    advantages,
    targets: plusValues(options.value_lambda === undefined ? advantages : under(options.value_lambda)),
    returns: plusValues(under(1)),
  };
}

/** Returns r_t - β (old_t - ref_t): the reward minus the divergence from the reference, for each token. */
function charged(
  rewards: Float64Array,
  { old, reference, coefficient }: NonNullable<EstimateParts["divergence"]>,
  clip = Number.POSITIVE_INFINITY,
): Float64Array {
  return rewards.map(
    (reward, t) =>
      reward - coefficient * Math.max(-clip, Math.min(clip, (old[t] as number) - (reference[t] as number))),
  );
}
