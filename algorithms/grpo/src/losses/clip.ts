import { clippedSurrogate, ratioSlope } from "@mrlm/kit/learning";
import { perToken } from "./policy-loss.ts";

/**
 * Clipped surrogate of PPO (arXiv 1707.06347), with r_t = exp(logp_t - old_t):
 *
 *     l_t = -min(r_t A, clip(r_t, 1-ε_low, 1+ε_high) A)       for A < 0 at most -c A with dual_clip c (arXiv 1912.09729)
 */
export const clip = perToken(({ logprob, old, ratio, advantage }, options) => {
  const { loss, slope: byRatio } = clippedSurrogate(ratio, advantage, options);
  const slope = byRatio * ratioSlope(logprob, old);
  return { loss, slope, isClipped: slope === 0 && advantage !== 0 };
});
