import { clippedSurrogate, ratioOf, ratioSlope } from "@mrlm/kit/learning";
import { type PolicyLoss, tokenRatios } from "./policy-loss.ts";

/**
 * GSPO (arXiv 2507.18071): one ratio for the whole episode.
 *
 *     l_t = the clip loss of s = exp(mean_t(logp_t - old_t))
 */
export const gspo: PolicyLoss = (tokens, options) => {
  const { logprobs, old, weights, advantage } = tokens;
  if (typeof advantage !== "number") throw new TypeError("GSPO has one advantage for the whole episode.");
  const ratio = tokenRatios(tokens);
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
};
