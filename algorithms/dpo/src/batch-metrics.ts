import { type Mean, meanOf, meanValue, type Metrics } from "@mrlm/kit/learning";
import { lossEntry } from "./losses/index.ts";
import { type AnswerLogprobs, isPresent } from "./losses/pair-loss.ts";
import type { DpoSettings } from "./options.ts";

/** Result of one pair, or of one single answer. */
export interface PairOutcome {
  readonly loss: number;
  readonly chosen: AnswerLogprobs;
  readonly rejected: AnswerLogprobs;
  /** Entropy of the policy over the tokens of both answers, in nats. */
  readonly entropy: Mean;
  readonly isCut: { readonly chosen: boolean; readonly rejected: boolean };
}

/** Returns the metrics of a step. The implicit reward of an answer is β (logπ - logref), summed over its tokens, or their mean where the loss takes means. */
export function batchMetrics(
  outcomes: readonly PairOutcome[],
  { beta, loss: name }: Pick<DpoSettings, "beta" | "loss">,
): Metrics {
  const { isMean } = lossEntry(name);
  const reward = ({ policy, reference, tokens }: AnswerLogprobs): number =>
    (beta * (policy - reference)) / (isMean ? tokens : 1);
  const present = (side: Side): PairOutcome[] => outcomes.filter((outcome) => isPresent(outcome[side]));
  const ofSide = (side: Side, answers: readonly PairOutcome[]): Metrics =>
    answers.length === 0
      ? {}
      : {
          [`preference/${side}`]: meanOf(answers.map((outcome) => reward(outcome[side]))),
          [`logprob/${side}`]: tokenMean(answers.map((outcome) => outcome[side])),
          [`length/${side}`]: meanOf(answers.map((outcome) => outcome[side].tokens)),
          [`length/${side}_cut`]: meanOf(answers.map(({ isCut }) => Number(isCut[side]))),
        };
  const [chosen, rejected] = [present("chosen"), present("rejected")];
  const isPaired = chosen.length === outcomes.length && rejected.length === outcomes.length;
  const meanReward = (side: Side, answers: readonly PairOutcome[]): number =>
    meanValue(meanOf(answers.map((outcome) => reward(outcome[side]))));
  return {
    "loss/preference": meanOf(outcomes.map(({ loss }) => loss)),
    ...(isPaired && {
      "preference/accuracy": meanOf(outcomes.map((pair) => Number(reward(pair.chosen) > reward(pair.rejected)))),
      "preference/margin": meanOf(outcomes.map((pair) => reward(pair.chosen) - reward(pair.rejected))),
    }),
    ...(!isPaired && { "preference/desirable": { sum: chosen.length, count: outcomes.length } }),
    ...(!isPaired &&
      chosen.length > 0 &&
      rejected.length > 0 && {
        "preference/margin": meanReward("chosen", chosen) - meanReward("rejected", rejected),
      }),
    ...ofSide("chosen", chosen),
    ...ofSide("rejected", rejected),
    entropy: {
      sum: outcomes.reduce((sum, { entropy }) => sum + entropy.sum, 0),
      count: outcomes.reduce((sum, { entropy }) => sum + entropy.count, 0),
    },
  };
}

type Side = "chosen" | "rejected";

function tokenMean(answers: readonly AnswerLogprobs[]): { sum: number; count: number } {
  return {
    sum: answers.reduce((sum, { policy }) => sum + policy, 0),
    count: answers.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
