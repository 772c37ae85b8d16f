import { logRatio, type PairLoss } from "./pair-loss.ts";

/**
 * SLiC (arXiv 2305.10425) with r = log π - log ref:
 *
 *     max(0, 1 - β (r_w - r_l))
 */
export const hinge: PairLoss = ({ chosen, rejected }, { beta }) => {
  const margin = 1 - beta * (logRatio(chosen) - logRatio(rejected));
  const slope = margin > 0 ? -beta : 0;
  return { loss: Math.max(0, margin), chosenSlope: slope, rejectedSlope: -slope };
};
