import type { JsonObject } from "@mrlm/kit/learning";
import type { trainBigram } from "@mrlm/testing";
import { grpo } from "../../src/index.ts";

type Training = Parameters<typeof trainBigram>[0];

/** Returns three iterations of grpo on a bigram model, with several updates and minibatches. @param options of the algorithm, beside those that all trainings share */
export function lettersTraining(
  environment: NonNullable<Training["environments"]>[number],
  options: JsonObject,
  config: JsonObject,
): Training {
  const sizes = { steps: 3, prompts_per_step: 4, group_size: 4, learning_rate: 0.1 };
  const updates = { scale: "batch_std", updates_per_step: 2, minibatches: 2, mismatch: "truncate" };
  return {
    algorithms: [grpo],
    environments: [environment],
    stages: [{ algorithm: "grpo", ...sizes, ...updates, ...options }],
    config,
  };
}
