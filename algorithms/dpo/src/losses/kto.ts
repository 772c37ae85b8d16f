import { logistic } from "./logistic.ts";
import { isPresent, logRatio, type PairLoss } from "./pair-loss.ts";

/**
 * KTO (arXiv 2402.01306, eq. 8) with r = log π - log ref and the divergence z. An absent answer has no term:
 *
 *     λ_w (1 - σ(β (r_w - z))) + λ_l (1 - σ(β (z - r_l)))
 */
export const kto: PairLoss = ({ chosen, rejected, divergence }, parameters) => {
  const { beta, kto_desirable_weight, kto_undesirable_weight } = parameters;
  const desirable = isPresent(chosen) ? kto_desirable_weight : 0;
  const undesirable = isPresent(rejected) ? kto_undesirable_weight : 0;
  const chosenValue = logistic(beta * (logRatio(chosen) - divergence));
  const rejectedValue = logistic(beta * (divergence - logRatio(rejected)));
  return {
    loss: desirable * (1 - chosenValue) + undesirable * (1 - rejectedValue),
    chosenSlope: -desirable * beta * chosenValue * (1 - chosenValue),
    rejectedSlope: undesirable * beta * rejectedValue * (1 - rejectedValue),
  };
};
