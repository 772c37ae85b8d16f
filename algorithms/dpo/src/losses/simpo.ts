import { logisticLoss } from "./logistic.ts";
import type { PairLoss } from "./pair-loss.ts";

/**
 * SimPO (arXiv 2405.14734) with |y| tokens and without a reference:
 *
 *     -(1-ε) log σ(u) - ε log σ(-u),   u = β (log π_w/|y_w| - log π_l/|y_l|) - γ
 */
export const simpo: PairLoss = ({ chosen, rejected }, { beta, label_smoothing, simpo_margin }) => {
  const margin = beta * (chosen.policy / chosen.tokens - rejected.policy / rejected.tokens) - simpo_margin;
  const { loss, slope } = logisticLoss(margin, label_smoothing);
  return { loss, chosenSlope: (beta * slope) / chosen.tokens, rejectedSlope: (-beta * slope) / rejected.tokens };
};
