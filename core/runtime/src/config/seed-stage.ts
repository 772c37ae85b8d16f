import { ownMember } from "../names/own-member.ts";
import type { JsonObject, JsonValue } from "@mrlm/spec";
import type { ConfigInput } from "./schema.ts";
import type { ConfigPath } from "./source-text.ts";

/** An option of an algorithm and the key of the seed system's YAML that it came from. */
interface Translated {
  readonly option: string;
  readonly value: JsonValue;
  readonly from: ConfigPath;
}

/** A stage made from the seed system's form. */
export interface SeedStage {
  readonly algorithm: string;
  readonly options: JsonObject;
  /** Where each option stood. */
  readonly origins: Readonly<Record<string, ConfigPath>>;
}

/** Names of `training` that algorithms know by another name; `null`: not an option of an algorithm. */
const TRAINING_NAMES: Readonly<Record<string, string | null>> = {
  algorithm: null,
  optimizer: null,
  num_epochs: "steps",
  num_iterations: "steps",
  lr_scheduler: "lr_schedule",
  mini_batch_size: null,
  num_rollouts_per_iteration: null,
  episodes_per_iteration: null,
  max_episode_length: null,
  eval_every: null,
  eval_episodes: null,
  save_every: null,
  save_total_limit: null,
  seed: null,
  use_fp16: null,
  use_bf16: null,
};

/** Names of the section that bears an algorithm's name, where they differ from our algorithms'. One can stand for several options. */
const SECTION_NAMES: Readonly<Record<string, readonly string[]>> = {
  clip_range: ["clip_low", "clip_high"],
  clip_range_vf: ["value_clip"],
  value_clip_range: ["value_clip"],
  num_ppo_epochs: ["updates_per_step"],
  num_grpo_epochs: ["updates_per_step"],
  value_loss_coef: ["value_coefficient"],
  entropy_coef: ["entropy_coefficient"],
  normalize_advantages: ["whiten_advantages"],
  loss_type: ["loss"],
  target_kl: ["stop_kl"],
};

/** Episodes of one task that an algorithm without groups plays. */
const GROUP_SIZES: Readonly<Record<string, number>> = { grpo: 4 };

/** The stage that `training` and the section of its algorithm describe. */
export function seedStage(
  training: NonNullable<ConfigInput["training"]>,
  sections: Readonly<Record<string, JsonObject | undefined>>,
  hasEffect: (path: ConfigPath) => boolean,
): SeedStage {
  const algorithm = training.algorithm.toLowerCase();
  const section = ownMember(sections, algorithm) ?? {};
  const translated = [
    ...ofTraining(training as JsonObject, hasEffect),
    ...ofSection(algorithm, section),
    ...batchSize(training, algorithm, section),
  ];
  return {
    algorithm,
    options: Object.fromEntries(translated.map(({ option, value }) => [option, value])),
    origins: Object.fromEntries(translated.map(({ option, from }) => [option, from])),
  };
}

function ofTraining(training: JsonObject, hasEffect: (path: ConfigPath) => boolean): Translated[] {
  return Object.entries(training).flatMap(([key, value]) => {
    const known = ownMember(TRAINING_NAMES, key);
    const option = known === undefined ? key : known;
    const from = ["training", key];
    return option === null || value === null || key === "batch_size" || !hasEffect(from)
      ? []
      : [{ option, value, from }];
  });
}

function ofSection(algorithm: string, section: JsonObject): Translated[] {
  return Object.entries(section).flatMap(([key, value]) => {
    if (value === null) return [];
    if (key === "normalize_rewards")
      return [{ option: "scale", value: value === true ? "group_std" : "none", from: [algorithm, key] }];
    if (key === "reward_normalization")
      return [{ option: "scale", value: value === "batch" ? "batch_std" : "group_std", from: [algorithm, key] }];
    return (ownMember(SECTION_NAMES, key) ?? [key]).map((option) => ({ option, value, from: [algorithm, key] }));
  });
}

/** The seed system counts episodes, our algorithms that play groups count tasks. */
function batchSize(
  training: NonNullable<ConfigInput["training"]>,
  algorithm: string,
  section: JsonObject,
): Translated[] {
  const key =
    training.episodes_per_iteration !== undefined
      ? "episodes_per_iteration"
      : training.num_rollouts_per_iteration !== undefined
        ? "num_rollouts_per_iteration"
        : "batch_size";
  const count = training[key];
  if (count === undefined) return [];
  const from = ["training", key];
  if (algorithm === "sft" || algorithm === "dpo")
    return training.batch_size === undefined
      ? []
      : [{ option: "batch_size", value: training.batch_size, from: ["training", "batch_size"] }];
  const groupSize =
    typeof section["group_size"] === "number" ? section["group_size"] : (ownMember(GROUP_SIZES, algorithm) ?? 1);
  const groups: Translated[] = Object.hasOwn(GROUP_SIZES, algorithm)
    ? [
        {
          option: "group_size",
          value: groupSize,
          from: section["group_size"] === undefined ? from : [algorithm, "group_size"],
        },
      ]
    : [];
  return [{ option: "prompts_per_step", value: Math.max(1, Math.round(count / groupSize)), from }, ...groups];
}
