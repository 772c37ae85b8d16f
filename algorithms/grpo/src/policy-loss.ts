import { type ClipOptions, clippedSurrogate, ratioOf, ratioSlope } from "@mrlm/kit/learning";

/** The choice of surrogate and its bounds. */
export interface PolicyLossOptions extends ClipOptions {
  readonly policy_loss: "clip" | "gspo" | "cispo" | "minirl";
  readonly minirl_epsilon_high: number;
  readonly minirl_cap: number;
}

/** A surrogate on the tokens of one episode; the weights of tokens are the aggregation's business. */
export interface TokenLosses {
  /** Loss of each token. */
  readonly loss: Float64Array;
  /** Derivative of the episode's Σ w_t loss_t with respect to each log-probability, for the given weights. */
  readonly gradient: Float64Array;
  readonly ratio: Float64Array;
  /** Tokens that the bounds hold: clipped, bounded or masked. */
  readonly clipped: number;
}

/** Tokens of one episode, one number for each. */
export interface EpisodeTokens {
  readonly logprobs: ArrayLike<number>;
  /** Of the old policy. */
  readonly old: ArrayLike<number>;
  /** In the loss. */
  readonly weights: ArrayLike<number>;
  readonly advantage: number;
  /** In weight versions. */
  readonly age: number;
}

/**
 * Surrogate losses of one episode with advantage A, r_t = exp(logp_t - old_t):
 *
 *     clip     l_t = -min(r_t A, clip(r_t, 1-ε_low, 1+ε_high) A)             arXiv 1707.06347; for A < 0 no more than -c A with dual_clip c
 *     gspo     l_t = the clip loss of s = exp(mean_t(logp_t - old_t))        arXiv 2507.18071; the mean is over the whole episode
 *     cispo    l_t = -sg(min(r_t, 1+ε_high)) A logp_t                        arXiv 2506.13585
 *     minirl   l_t = -sg(r_t) A logp_t, and 0 where A > 0 and r_t > 1 + (ε_low + ε_h) cap d, or A < 0 and r_t < 1 - ε_low cap d;
 *              d = 1/(1 + age)                                               after arXiv 2512.01374
 */
export function policyLosses(tokens: EpisodeTokens, options: PolicyLossOptions): TokenLosses {
  const { logprobs, old } = tokens;
  const n = logprobs.length;
  const ratio = Float64Array.from({ length: n }, (_, t) => ratioOf(logprobs[t] as number, old[t] as number));
  if (options.policy_loss === "gspo") return sequenceLosses(tokens, ratio, options);
  const result = { loss: new Float64Array(n), gradient: new Float64Array(n), ratio, clipped: 0 };
  for (let t = 0; t < n; t++) {
    const { loss, slope, isHeld } = tokenLoss(t, ratio[t] as number, tokens, options);
    result.loss[t] = loss;
    result.gradient[t] = (tokens.weights[t] as number) * slope;
    if (isHeld) result.clipped++;
  }
  return result;
}

/** Loss of one token and its slope with respect to the log-probability. */
function tokenLoss(
  t: number,
  ratio: number,
  { logprobs, old, advantage, age }: EpisodeTokens,
  options: PolicyLossOptions,
): { loss: number; slope: number; isHeld: boolean } {
  const logprob = logprobs[t] as number;
  if (options.policy_loss === "cispo") {
    const bounded = Math.min(ratio, 1 + options.clip_high);
    return { loss: -bounded * advantage * logprob, slope: -bounded * advantage, isHeld: bounded < ratio };
  }
  if (options.policy_loss === "minirl") {
    const reach = options.minirl_cap / (1 + age);
    const { clip_low, minirl_epsilon_high } = options;
    const isHeld =
      (advantage > 0 && ratio > 1 + (clip_low + minirl_epsilon_high) * reach) ||
      (advantage < 0 && ratio < 1 - clip_low * reach);
    return isHeld
      ? { loss: 0, slope: 0, isHeld }
      : { loss: -ratio * advantage * logprob, slope: -ratio * advantage, isHeld };
  }
  const { loss, slope: byRatio } = clippedSurrogate(ratio, advantage, options);
  const slope = byRatio * ratioSlope(logprob, old[t] as number);
  return { loss, slope, isHeld: slope === 0 && advantage !== 0 };
}

function sequenceLosses(
  { logprobs, old, weights, advantage }: EpisodeTokens,
  ratio: Float64Array,
  options: PolicyLossOptions,
): TokenLosses {
  const n = ratio.length;
  let logRatio = 0;
  let weight = 0;
  for (let t = 0; t < n; t++) {
    logRatio += ((logprobs[t] as number) - (old[t] as number)) / n;
    weight += weights[t] as number;
  }
  const { loss, slope: byRatio } = clippedSurrogate(ratioOf(logRatio, 0), advantage, options);
  const slope = byRatio * ratioSlope(logRatio, 0);
  return {
    loss: new Float64Array(n).fill(loss),
    gradient: new Float64Array(n).fill((weight * slope) / n),
    ratio,
    clipped: slope === 0 && advantage !== 0 ? n : 0,
  };
}
