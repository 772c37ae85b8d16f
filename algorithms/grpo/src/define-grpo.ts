import { defined } from "@mrlm/kit";
import {
  type AlgorithmDefinition,
  assertWholeDistribution,
  MrlmError,
  type RolloutSampling,
  type TrainingEnvironment,
  type TrajectoryGroup,
  uncorrected,
  type WeightVersion,
} from "@mrlm/kit/learning";
import type { z } from "zod";
import { startGrpo } from "./grpo-run.ts";
import type { EpisodeTokens, TokenLosses } from "./losses/policy-loss.ts";
import { evaluatesReference, type GrpoSettings, optionsWithLoss } from "./options.ts";
import { rewardedGroups } from "./samples.ts";

/** Returns the definition of GRPO with a choice of surrogates. */
export function defineGrpo<Options>(
  own: Pick<AlgorithmDefinition<Options>, "id" | "description" | "options">,
  settingsOf: (options: Options) => GrpoSettings,
): AlgorithmDefinition<Options> {
  return {
    ...own,
    iterations: (options) => settingsOf(options).steps,
    plays: (options, sampling) => planOf(settingsOf(options), sampling),
    memory: (options) => {
      const settings = settingsOf(options);
      return { reference: evaluatesReference(settings), unitSequences: settings.group_size };
    },
    needsTeacher: (options) => settingsOf(options).distill_coefficient > 0,
    validate: (options, environments, sampling) => validate(settingsOf(options), environments, sampling),
    create: (context, options) => startGrpo(context, settingsOf(options)),
  };
}

/** Definition of GRPO with a loss of its own. */
export interface OwnLossDefinition<Shape extends z.ZodRawShape> extends Pick<
  AlgorithmDefinition,
  "id" | "description"
> {
  /** Options that the loss reads, beside those of `grpo@1` that its surrogates do not read. */
  readonly options?: Shape;
  /**
   * Returns the losses of one episode's tokens, and the derivative of their weighted sum with respect to each log-probability. `perToken` makes it from a
   * function of one token.
   */
  readonly loss: (tokens: EpisodeTokens, options: z.output<z.ZodObject<Shape>>) => TokenLosses;
}

/** Returns an algorithm that is `grpo@1` in all but the surrogate loss: batches, advantages, divergence, mismatch, metrics and resuming stay. */
export function grpoWithLoss<Shape extends z.ZodRawShape>({
  id,
  description,
  options: shape = {} as Shape,
  loss,
}: OwnLossDefinition<Shape>): AlgorithmDefinition {
  return defineGrpo<unknown>(
    { id, description, options: optionsWithLoss(shape) },
    // The compiler does not see that the schema has checked the options.
    (options) => ({ ...(options as GrpoSettings), ownLoss: (tokens) => loss(tokens, options as never) }),
  );
}

function planOf(
  options: GrpoSettings,
  sampling: RolloutSampling,
): ReturnType<NonNullable<AlgorithmDefinition<GrpoSettings>["plays"]>> {
  return {
    name: "grpo",
    groups: options.prompts_per_step,
    groupSize: options.group_size,
    refills: Math.max(options.dynamic_sampling, options.max_staleness === undefined ? 0 : 1),
    ...defined({
      maxStaleness: options.max_staleness,
      branches: options.credit === "branch" ? { count: options.branches, every: options.branch_every } : undefined,
    }),
    uncorrected: uncorrected(options),
    ...(options.dynamic_sampling === 0
      ? {}
      : {
          accept: (group: TrajectoryGroup, { policy, version }: WeightVersion) =>
            rewardedGroups([group], options, version, { policy, sampling }).rewarded.some(({ hasSignal }) => hasSignal),
        }),
  };
}

function validate(options: GrpoSettings, _: readonly TrainingEnvironment[], sampling: RolloutSampling): void {
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
