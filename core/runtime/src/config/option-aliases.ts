import { ownMember } from "../names/own-member.ts";

/** Names here of keys in configurations of TRL and other trainers. The first that is known at the place of the key applies; a name with a dot is of another section. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  beta: ["kl_coefficient"],
  bf16: ["model.dtype"],
  cliprange: ["clip_low"],
  cliprange_value: ["value_clip"],
  dataset: ["data"],
  epsilon: ["clip_low"],
  epsilon_high: ["clip_high"],
  eval_steps: ["eval.every"],
  fp16: ["model.dtype"],
  gradient_accumulation_steps: ["model.micro_batch_tokens"],
  gradient_checkpointing: ["model.gradient_checkpointing"],
  init_kl_coef: ["kl_coefficient"],
  kl_coef: ["kl_coefficient"],
  lam: ["gae_lambda"],
  loss_type: ["policy_loss", "loss", "aggregation"],
  lora_alpha: ["model.lora.alpha"],
  lora_r: ["model.lora.rank"],
  lr: ["learning_rate"],
  lr_scheduler_type: ["lr_schedule"],
  max_completion_length: ["sampling.max_tokens"],
  max_new_tokens: ["sampling.max_tokens"],
  max_prompt_length: ["sampling.max_sequence_tokens"],
  max_seq_length: ["max_length", "sampling.max_sequence_tokens"],
  max_steps: ["steps"],
  mini_batch_size: ["minibatches"],
  model_name_or_path: ["model.path"],
  num_epochs: ["steps"],
  num_generations: ["group_size"],
  num_iterations: ["updates_per_step"],
  num_mini_batches: ["minibatches"],
  num_ppo_epochs: ["updates_per_step"],
  num_train_epochs: ["steps"],
  output_dir: ["output"],
  per_device_train_batch_size: ["prompts_per_step", "batch_size"],
  report_to: ["trackers"],
  reward_funcs: ["environments"],
  rollout_batch_size: ["prompts_per_step"],
  save_steps: ["checkpoint.every"],
  save_total_limit: ["checkpoint.keep"],
  scale_rewards: ["scale"],
  temperature: ["sampling.temperature"],
  top_k: ["sampling.top_k"],
  top_p: ["sampling.top_p"],
  train_batch_size: ["prompts_per_step", "batch_size"],
  use_vllm: ["engine"],
  vf_coef: ["value_coefficient"],
  warmup_ratio: ["warmup_steps"],
};

/** Sections that an option inside a stage may mean. */
const SECTIONS = ["engine", "environments", "output", "trackers"];

/** Returns the name here of an option of another trainer, if that name is in `known`, in another section, or a section itself. */
export function optionAlias(key: string, known: readonly string[]): string | undefined {
  return ownMember(NAMES, key)?.find((name) => known.includes(name) || name.includes(".") || SECTIONS.includes(name));
}
