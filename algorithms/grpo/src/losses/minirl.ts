import { perToken } from "./policy-loss.ts";

/**
 * MiniRL (after arXiv 2512.01374), with r_t = exp(logp_t - old_t) and sg the identity without a derivative:
 *
 *     l_t = -sg(r_t) A logp_t, and 0 where A > 0 and r_t > 1 + (ε_low + ε_h) cap d, or A < 0 and r_t < 1 - ε_low cap d
 *     d = 1/(1 + age)
 */
export const minirl = perToken(({ logprob, ratio, advantage, age }, { clip_low, minirl_epsilon_high, minirl_cap }) => {
  const reach = minirl_cap / (1 + age);
  const isClipped =
    (advantage > 0 && ratio > 1 + (clip_low + minirl_epsilon_high) * reach) ||
    (advantage < 0 && ratio < 1 - clip_low * reach);
  return isClipped
    ? { loss: 0, slope: 0, isClipped }
    : { loss: -ratio * advantage * logprob, slope: -ratio * advantage, isClipped };
});
