import { meanOf } from "@mrlm/kit/learning";
import type { Mean, Metrics } from "@mrlm/spec";
import type { AnswerLogprobs } from "./losses/pair-loss.ts";

/** Result of one pair. */
export interface PairOutcome {
  readonly loss: number;
  readonly chosen: AnswerLogprobs;
  readonly rejected: AnswerLogprobs;
  /** Entropy of the policy over the tokens of both answers, in nats. */
  readonly entropy: Mean;
  readonly isCut: { readonly chosen: boolean; readonly rejected: boolean };
}

/** Returns the metrics of a step. The implicit reward of an answer is β (logπ - logref), summed over its tokens. */
export function batchMetrics(outcomes: readonly PairOutcome[], beta: number): Metrics {
  const reward = ({ policy, reference }: AnswerLogprobs): number => beta * (policy - reference);
  return {
    "loss/preference": meanOf(outcomes.map(({ loss }) => loss)),
    "preference/accuracy": meanOf(outcomes.map(({ chosen, rejected }) => Number(reward(chosen) > reward(rejected)))),
    "preference/margin": meanOf(outcomes.map(({ chosen, rejected }) => reward(chosen) - reward(rejected))),
    "preference/chosen": meanOf(outcomes.map(({ chosen }) => reward(chosen))),
    "preference/rejected": meanOf(outcomes.map(({ rejected }) => reward(rejected))),
    "logprob/chosen": tokenMean(outcomes.map(({ chosen }) => chosen)),
    "logprob/rejected": tokenMean(outcomes.map(({ rejected }) => rejected)),
    "length/chosen": meanOf(outcomes.map(({ chosen }) => chosen.tokens)),
    "length/rejected": meanOf(outcomes.map(({ rejected }) => rejected.tokens)),
    "length/chosen_cut": meanOf(outcomes.map(({ isCut }) => Number(isCut.chosen))),
    "length/rejected_cut": meanOf(outcomes.map(({ isCut }) => Number(isCut.rejected))),
    entropy: {
      sum: outcomes.reduce((sum, { entropy }) => sum + entropy.sum, 0),
      count: outcomes.reduce((sum, { entropy }) => sum + entropy.count, 0),
    },
  };
}

function tokenMean(answers: readonly AnswerLogprobs[]): { sum: number; count: number } {
  return {
    sum: answers.reduce((sum, { policy }) => sum + policy, 0),
    count: answers.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
