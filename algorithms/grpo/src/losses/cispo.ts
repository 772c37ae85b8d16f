import { perToken } from "./policy-loss.ts";

/**
 * CISPO (arXiv 2506.13585), with r_t = exp(logp_t - old_t) and sg the identity without a derivative:
 *
 *     l_t = -sg(min(r_t, 1+ε_high)) A logp_t
 */
export const cispo = perToken(({ logprob, ratio, advantage }, { clip_high }) => {
  const bounded = Math.min(ratio, 1 + clip_high);
  return { loss: -bounded * advantage * logprob, slope: -bounded * advantage, isClipped: bounded < ratio };
});
