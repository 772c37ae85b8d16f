import { logRatio, type PairLoss } from "./pair-loss.ts";

/**
 * IPO (arXiv 2310.12036) with r = log π - log ref and |y| tokens:
 *
 *     (r_w/|y_w| - r_l/|y_l| - 1/(2β))²
 */
export const ipo: PairLoss = ({ chosen, rejected }, { beta }) => {
  const distance = logRatio(chosen) / chosen.tokens - logRatio(rejected) / rejected.tokens - 1 / (2 * beta);
  return {
    loss: distance * distance,
    chosenSlope: (2 * distance) / chosen.tokens,
    rejectedSlope: (-2 * distance) / rejected.tokens,
  };
};
