import {
  type AlgorithmDefinition,
  assertWholeDistribution,
  definePlugin,
  MrlmError,
  type RolloutSampling,
  type TrainingEnvironment,
  type TrajectoryGroup,
  uncorrected,
  type WeightVersion,
} from "@mrlm/kit/learning";
import { startGrpo } from "./grpo-run.ts";
import { evaluatesReference, type GrpoOptions, grpoOptions } from "./options.ts";
import { rewardedGroups } from "./samples.ts";

export { grpoOptions } from "./options.ts";

/** `grpo@1`: group relative policy optimization and its family. */
export const grpo: AlgorithmDefinition<GrpoOptions> = {
  id: "grpo@1",
  description:
    "Group relative policy optimization (arXiv 2402.03300): plays each task several times and reinforces the episodes with more reward than the mean of their group.",
  options: grpoOptions,
  iterations: (options) => options.steps,
  plays: (options, sampling) => ({
    name: "grpo",
    groups: options.prompts_per_step,
    groupSize: options.group_size,
    refills: Math.max(options.dynamic_sampling, options.max_staleness === undefined ? 0 : 1),
    ...(options.max_staleness === undefined ? {} : { maxStaleness: options.max_staleness }),
    uncorrected: uncorrected(options),
    ...(options.dynamic_sampling === 0
      ? {}
      : {
          accept: (group: TrajectoryGroup, { policy, version }: WeightVersion) =>
            rewardedGroups([group], options, version, { policy, sampling }).rewarded.some(({ hasSignal }) => hasSignal),
        }),
  }),
  memory: (options) => ({ reference: evaluatesReference(options), unitSequences: options.group_size }),
  needsTeacher: ({ distill_coefficient }) => distill_coefficient > 0,
  validate,
  create: startGrpo,
};

export default definePlugin({
  name: "@mrlm/grpo",
  algorithms: [grpo],
  examples: {
    algorithms: {
      "grpo@1": {
        options: { steps: 10, prompts_per_step: 8, group_size: 4, learning_rate: 0.5 },
        invalid: [{ group_size: 1 }, { minibatches: 9 }, { clip_low: 1.5 }, { sampling: { temperature: 0 } }],
      },
    },
  },
});

function validate(options: GrpoOptions, _: readonly TrainingEnvironment[], sampling: RolloutSampling): void {
  if (options.baseline === "role_average" && options.scale === "group_std") {
    throw new MrlmError(
      "CONFIG_INVALID",
      "scale: group_std divides by a deviation within a group, which baseline: role_average does not compare.",
      {
        hint: "Set scale: none or scale: batch_std.",
      },
    );
  }
  const { group_size: size, baseline, reward_coefficient: share } = options;
  if (size < 2 && baseline !== "role_average" && share > 0) {
    throw new MrlmError(
      "CONFIG_INVALID",
      `group_size is ${size}: every advantage would be 0, because an episode is compared with the others of its group.`,
      {
        hint: "Set group_size to 2 or more (8 is usual), or, for self-play, baseline: role_average. Distillation alone (reward_coefficient: 0) compares no episodes.",
      },
    );
  }
  if (sampling.temperature <= 0)
    throw new MrlmError("CONFIG_INVALID", "sampling.temperature is 0: all episodes of a group would be the same.");
  assertWholeDistribution(sampling);
  if (options.overlong_buffer >= sampling.maxTokens) {
    throw new MrlmError(
      "CONFIG_INVALID",
      `overlong_buffer (${options.overlong_buffer}) is not below sampling.max_tokens (${sampling.maxTokens}): every answer would have a penalty.`,
    );
  }
}
