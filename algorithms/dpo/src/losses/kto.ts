import { logistic } from "./logistic.ts";
import { logRatio, type PairLoss } from "./pair-loss.ts";

/**
 * KTO (arXiv 2402.01306) with r = log π - log ref and the divergence z:
 *
 *     λ_w (1 - σ(β (r_w - z))) + λ_l (1 - σ(β (z - r_l)))
 */
export const kto: PairLoss = ({ chosen, rejected, divergence }, parameters) => {
  const { beta, kto_desirable_weight: desirable, kto_undesirable_weight: undesirable } = parameters;
  const chosenValue = logistic(beta * (logRatio(chosen) - divergence));
  const rejectedValue = logistic(beta * (divergence - logRatio(rejected)));
  return {
    loss: desirable * (1 - chosenValue) + undesirable * (1 - rejectedValue),
    chosenSlope: -desirable * beta * chosenValue * (1 - chosenValue),
    rejectedSlope: undesirable * beta * rejectedValue * (1 - rejectedValue),
  };
};
