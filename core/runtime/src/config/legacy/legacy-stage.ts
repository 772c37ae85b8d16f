import type { JsonObject, JsonValue } from "@mrlm/spec";
import { ownMember } from "../../names/own-member.ts";
import type { ConfigPath } from "../source-text.ts";
import type { FileConfig } from "./legacy-schema.ts";

type Training = NonNullable<FileConfig["training"]>;

/** Option of an algorithm and the legacy key that it comes from. */
interface TranslatedOption {
  readonly option: string;
  readonly value: JsonValue;
  readonly from: ConfigPath;
}

/** Stage that comes from `training`. */
interface LegacyStage {
  readonly algorithm: string;
  readonly options: readonly TranslatedOption[];
}

/** Options of algorithms by the keys of `training` where the names differ; `null`: not an option of an algorithm. */
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

/** Options by the keys of an algorithm's section where the names differ. A key can set several options. */
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

/** Default group sizes in the legacy form; 1 for other algorithms. */
const GROUP_SIZES: Readonly<Record<string, number>> = { grpo: 4 };

/** Translates `training` and the section of its algorithm to a stage. */
export function legacyStage(
  training: Training,
  sections: Readonly<Record<string, JsonObject | undefined>>,
  hasEffect: (path: ConfigPath) => boolean,
): LegacyStage {
  const algorithm = training.algorithm.toLowerCase();
  const section = ownMember(sections, algorithm) ?? {};
  const options = [
    ...ofTraining(training as JsonObject, hasEffect),
    ...ofSection(algorithm, section),
    ...batchSize(training, algorithm, section),
  ];
  // Two keys may set one option: the last counts.
  return { algorithm, options: [...new Map(options.map((each) => [each.option, each])).values()] };
}

function ofTraining(training: JsonObject, hasEffect: (path: ConfigPath) => boolean): TranslatedOption[] {
  return Object.entries(training).flatMap(([key, value]) => {
    const known = ownMember(TRAINING_NAMES, key);
    const option = known === undefined ? key : known;
    const from = ["training", key];
    return option === null || value === null || key === "batch_size" || !hasEffect(from)
      ? []
      : [{ option, value, from }];
  });
}

function ofSection(algorithm: string, section: JsonObject): TranslatedOption[] {
  return Object.entries(section).flatMap(([key, value]) => {
    // `temperature` belongs to `sampling`.
    if (value === null || key === "temperature") return [];
    if (key === "normalize_rewards")
      return [{ option: "scale", value: value === true ? "group_std" : "none", from: [algorithm, key] }];
    if (key === "reward_normalization")
      return [{ option: "scale", value: value === "batch" ? "batch_std" : "group_std", from: [algorithm, key] }];
    return (ownMember(SECTION_NAMES, key) ?? [key]).map((option) => ({ option, value, from: [algorithm, key] }));
  });
}

/** Translates the sizes of a batch: the legacy form counts episodes, algorithms that play groups count tasks. */
function batchSize(training: Training, algorithm: string, section: JsonObject): TranslatedOption[] {
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
  const groups: TranslatedOption[] = Object.hasOwn(GROUP_SIZES, algorithm)
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
