import { z } from "zod";
import { withoutEffect } from "./without-effect.ts";

const TRACKING = "metrics go to the run directory";
const count = z.int().positive();

/** `training`, the legacy form of one stage. */
export const legacyTrainingSection = z.strictObject({
  algorithm: z.string().min(1).describe("`ppo`, `grpo`, `dpo`, `sft` or another plugin's"),
  num_epochs: count.optional().describe("Iterations"),
  num_iterations: count.nullish().describe("Another name of num_epochs"),
  batch_size: count.optional(),
  mini_batch_size: count.nullish(),
  learning_rate: z.number().positive().optional(),
  max_grad_norm: z.number().nonnegative().optional(),
  optimizer: z.literal("adamw").optional().describe("AdamW is the only optimizer"),
  weight_decay: z.number().nonnegative().optional(),
  adam_beta1: z.number().min(0).lt(1).optional(),
  adam_beta2: z.number().min(0).lt(1).optional(),
  adam_epsilon: z.number().positive().optional(),
  lr_scheduler: z.enum(["constant", "linear", "cosine"]).nullish(),
  warmup_steps: z.int().nonnegative().optional(),
  num_rollouts_per_iteration: count.optional().describe("Episodes in each iteration"),
  episodes_per_iteration: count.optional().describe("Another name of num_rollouts_per_iteration"),
  max_episode_length: count.optional().describe("Turns of an episode, where the environment's entry has no max_turns"),
  eval_every: z.int().nonnegative().optional().describe("As `eval.every`"),
  eval_episodes: z.int().nonnegative().optional().describe("As `eval.tasks`"),
  save_every: z.int().nonnegative().optional().describe("As `checkpoint.every`"),
  save_total_limit: count.nullish().describe("As `checkpoint.keep`"),
  seed: z.int().nonnegative().nullish().describe("As `seed`"),
  use_fp16: z.boolean().optional().describe("As `model.dtype: float16`"),
  use_bf16: z.boolean().optional().describe("As `model.dtype: bfloat16`"),
  gradient_accumulation_steps: withoutEffect(
    "the engine divides batches by `model.micro_batch_tokens`, which leaves the gradient as it is",
  ),
  checkpoint_dir: withoutEffect("checkpoints are in the run directory"),
  log_every: withoutEffect("each iteration is logged"),
  log_dir: withoutEffect(TRACKING),
  use_tensorboard: withoutEffect(TRACKING),
  wandb_project: withoutEffect(TRACKING),
  wandb_entity: withoutEffect(TRACKING),
  wandb_run_name: withoutEffect(TRACKING),
});

const real = z.number().nullish();
const flag = z.boolean().optional();

/** Sections of the legacy form that are named after an algorithm. */
export const legacyAlgorithmSections = {
  ppo: z.strictObject({
    clip_range: real,
    clip_range_vf: real,
    gamma: real,
    gae_lambda: real,
    num_ppo_epochs: count.optional(),
    value_loss_coef: real,
    entropy_coef: real,
    target_kl: real,
    normalize_advantages: flag,
  }),
  grpo: z.strictObject({
    clip_range: real,
    gamma: real,
    gae_lambda: real,
    num_grpo_epochs: count.optional(),
    value_loss_coef: real,
    value_clip_range: real,
    entropy_coef: real,
    group_size: count.optional(),
    target_kl: real,
    normalize_rewards: flag,
    reward_normalization: z.string().optional(),
    temperature: real,
  }),
  dpo: z.strictObject({ beta: real, reference_free: flag, label_smoothing: real, loss_type: z.string().optional() }),
  sft: z.strictObject({
    mode: z.string().optional(),
    bc_weight: real,
    world_model_weight: real,
    filter_low_reward: flag,
    min_reward_threshold: real,
    collect_every: count.optional(),
    max_trajectories: count.optional(),
  }),
};
