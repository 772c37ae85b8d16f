import { logisticLoss } from "./logistic.ts";
import type { AnswerLogprobs, PairLoss } from "./pair-loss.ts";

/** Largest mean log-probability of which odds are taken, about the precision of float32: the odds of a probability of 1 are infinite. */
const CERTAIN = -1e-7;

/**
 * ORPO (arXiv 2403.07691, eq. 6 and 7) with m = log π/|y| and without a reference; β is λ of the paper:
 *
 *     -m_w - β log σ(o_w - o_l),   o = log(e^m / (1 - e^m)),   do/dm = 1 / (1 - e^m)
 */
export const orpo: PairLoss = ({ chosen, rejected }, { beta }) => {
  const [won, lost] = [oddsOf(chosen), oddsOf(rejected)];
  const { loss, slope } = logisticLoss(won.logOdds - lost.logOdds, 0);
  return {
    loss: beta * loss - chosen.policy / chosen.tokens,
    chosenSlope: (beta * slope * won.slope - 1) / chosen.tokens,
    rejectedSlope: (-beta * slope * lost.slope) / rejected.tokens,
  };
};

/** Returns the log odds of an answer, and their derivative with respect to its mean log-probability. */
function oddsOf({ policy, tokens }: AnswerLogprobs): { logOdds: number; slope: number } {
  const mean = Math.min(policy / tokens, CERTAIN);
  const opposite = -Math.expm1(mean);
  return { logOdds: mean - Math.log(opposite), slope: 1 / opposite };
}
