import { z } from "zod";
import { configSchema } from "../schema.ts";
import { pluginOptions } from "../sections/values.ts";
import { modelSection } from "../sections/model.ts";
import { distributedKeys, outputSection } from "../sections/operation.ts";
import type { ConfigPath } from "../source-text.ts";
import { legacyModelKeys } from "./model-keys.ts";
import { legacyAlgorithmSections, legacyTrainingSection } from "./training-keys.ts";
import { withoutEffect } from "./without-effect.ts";

const anyJson = z.json();

const legacyEnvironment = z.strictObject({
  env_type: z.string().min(1).describe("Legacy name of `id`"),
  mode: z
    .enum(["client", "server"])
    .optional()
    .describe("`client`: the policy acts in it; `server`, the policy itself, is left out"),
  max_turns: z.int().positive().optional(),
  dataset: anyJson
    .optional()
    .describe("This and the next keys become options of the environment if it has such options"),
  problems: anyJson.optional(),
  difficulty_range: anyJson.optional(),
  max_attempts: anyJson.optional(),
  custom_kwargs: pluginOptions.optional(),
  custom_class: withoutEffect("environments come from plugins, by their ids"),
  remote: withoutEffect("`server.address` names a server"),
  server_address: withoutEffect("`server.address` names a server"),
  timeout: withoutEffect("deadlines belong to the environment"),
  reward_scale: withoutEffect("rewards are trained on as the environment gives them"),
  reward_clip: withoutEffect("rewards are trained on as the environment gives them"),
  reward_bias: withoutEffect("rewards are trained on as the environment gives them"),
});

const legacyOutputKeys = {
  save_dir: z.string().min(1).optional().describe("Legacy name of `directory`"),
  log_interval: withoutEffect("each iteration is logged"),
  eval_interval: z.int().nonnegative().optional().describe("Legacy place of `eval.every`"),
  save_interval: z.int().nonnegative().optional().describe("Legacy place of `checkpoint.every`"),
};

const legacyDistributedKeys = {
  num_gpus: z.int().positive().optional().describe("Legacy name of nproc_per_node"),
  num_nodes: z.int().positive().optional().describe("Legacy name of nnodes"),
  node_rank: withoutEffect(
    "a run is started on machine 0 with `mrlm train`, and each other machine joins it with `mrlm join --node-rank N`",
  ),
  backend: withoutEffect("nccl on GPUs, gloo on CPUs"),
  gpu_ids: withoutEffect("CUDA_VISIBLE_DEVICES chooses GPUs"),
  fsdp_sharding_strategy: withoutEffect("FSDP2 shards parameters, gradients and optimizer state"),
  fsdp_cpu_offload: withoutEffect("state stays on the device"),
};

const sectionOf = (algorithm: keyof typeof legacyAlgorithmSections): string =>
  `Options of ${algorithm} in the legacy form, beside \`training\``;

const legacyTopKeys = {
  experiment_name: configSchema.shape.name.describe("Legacy name of `name`"),
  training: legacyTrainingSection.optional().describe("Legacy form of one stage"),
  ppo: legacyAlgorithmSections.ppo.optional().describe(sectionOf("ppo")),
  grpo: legacyAlgorithmSections.grpo.optional().describe(sectionOf("grpo")),
  dpo: legacyAlgorithmSections.dpo.optional().describe(sectionOf("dpo")),
  sft: legacyAlgorithmSections.sft.optional().describe(sectionOf("sft")),
  eval_envs: z.array(legacyEnvironment).optional().describe("Legacy form of `environments`"),
  policy_env: withoutEffect("the policy is `model`"),
  dataset: z
    .strictObject({ type: z.enum(["json", "jsonl"]).optional(), path: z.string().min(1) })
    .optional()
    .describe("Legacy place of an algorithm's `data`: a JSONL file"),
  output_dir: z.string().min(1).optional().describe("Legacy name of `output`"),
};

/** Keys that only the legacy form has, by the path of the section that they belong to. */
export const LEGACY_KEYS: readonly { readonly section: ConfigPath; readonly keys: readonly string[] }[] = [
  { section: [], keys: Object.keys(legacyTopKeys) },
  { section: ["model"], keys: Object.keys(legacyModelKeys) },
  { section: ["output"], keys: Object.keys(legacyOutputKeys) },
  { section: ["distributed"], keys: Object.keys(legacyDistributedKeys) },
];

const { model, output, distributed } = configSchema.shape;
const withDescription = <S extends z.ZodType>(schema: S, { description = "" }: z.ZodType): S =>
  schema.describe(description);

/** Configuration as a YAML file holds it: keys of the current form, of the legacy form, or of both. */
export const fileSchema = configSchema.extend({
  model: withDescription(modelSection.extend(legacyModelKeys).optional(), model),
  output: withDescription(z.union([z.string().min(1), outputSection.extend(legacyOutputKeys)]).optional(), output),
  distributed: withDescription(distributedKeys.extend(legacyDistributedKeys).optional(), distributed),
  ...legacyTopKeys,
});

/** Value that `fileSchema` accepts. */
export type FileConfig = z.input<typeof fileSchema>;
