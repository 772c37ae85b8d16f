import { logisticLoss } from "./logistic.ts";
import { logRatio, type PairLoss } from "./pair-loss.ts";

/**
 * DPO (arXiv 2305.18290) with r = log π - log ref; with ε > 0 cDPO:
 *
 *     -(1-ε) log σ(u) - ε log σ(-u),   u = β (r_w - r_l)
 */
export const sigmoid: PairLoss = ({ chosen, rejected }, { beta, label_smoothing }) => {
  const { loss, slope } = logisticLoss(beta * (logRatio(chosen) - logRatio(rejected)), label_smoothing);
  return { loss, chosenSlope: beta * slope, rejectedSlope: -beta * slope };
};
