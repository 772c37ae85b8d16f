import { optimizerOptions, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
import { z } from "zod";

const schema = z.strictObject({
  steps: z.int().positive().describe("Iterations: one batch of episodes each"),
  prompts_per_step: z.int().positive().default(64).describe("Tasks in each batch"),
  group_size: z.int().positive().default(1).describe("Episodes of each task"),
  updates_per_step: z
    .int()
    .positive()
    .default(2)
    .describe("Passes over each batch; old log-probabilities, values and advantages stay frozen"),
  minibatches: z.int().positive().default(1).describe("Optimiser steps in each pass"),

  clip_low: z.number().positive().max(1).default(0.2).describe("How far below 1 a ratio counts"),
  clip_high: z.number().positive().default(0.2).describe("How far above 1 a ratio counts"),
  dual_clip: z
    .number()
    .gt(1)
    .optional()
    .describe("Bound of the loss of tokens with a negative advantage (arXiv 1912.09729)"),
  old_policy: z
    .enum(["trainer", "sampler"])
    .default("trainer")
    .describe("Whose log-probabilities the ratio is taken against"),
  entropy_coefficient: z.number().nonnegative().default(0).describe("Weight of the entropy bonus"),

  gamma: z.number().min(0).max(1).default(1).describe("Discount of each chosen token"),
  gae_lambda: z.number().min(0).max(1).default(0.95).describe("Of the policy's advantages"),
  value_lambda: z.number().min(0).max(1).optional().describe("Of the critic's targets; default gae_lambda"),
  whiten_advantages: z.boolean().default(true).describe("Over the chosen tokens of the batch"),
  reward_clip: z.number().positive().optional().describe("Largest magnitude of a step's reward"),
  cut_penalty: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Taken from the last reward of an episode with a cut answer"),
  on_length: z.enum(["keep", "mask"]).default("keep").describe("Episodes cut by a token limit: learn from them or not"),

  critic: z
    .enum(["separate", "shared"])
    .default("separate")
    .describe("A model of its own, or a value head on the policy's trunk"),
  critic_path: z
    .string()
    .optional()
    .describe("Hugging Face directory that a separate critic begins as; default: the policy as it is at the beginning"),
  critic_learning_rate: z
    .number()
    .positive()
    .optional()
    .describe("Of a separate critic; default: ten times learning_rate"),
  critic_warmup_steps: z
    .int()
    .nonnegative()
    .default(0)
    .describe(
      "Iterations in which only the critic learns, if it is separate; the policy's warmup_steps and lr_schedule begin after them",
    ),
  value_coefficient: z
    .number()
    .positive()
    .optional()
    .describe(
      "Factor of the value loss; default 0.5 on a shared trunk. A separate critic has an optimiser of its own: only max_grad_norm sees it, and its default is 1",
    ),
  value_clip: z
    .number()
    .positive()
    .optional()
    .describe("How far a value may move from the old one before its loss stops falling"),

  kl_coefficient: z.number().nonnegative().default(0).describe("Weight of the divergence from the reference"),
  kl_placement: z
    .enum(["reward", "loss"])
    .default("reward")
    .describe("Where the divergence from the reference is charged"),
  kl_estimator: z.enum(["k1", "k2", "k3"]).default("k3").describe("In the loss; in the reward it is k1"),
  kl_clip: z.number().positive().optional().describe("Largest magnitude of a token's log-ratio in the reward"),
  kl_target: z
    .number()
    .positive()
    .optional()
    .describe("Nats an episode: kl_coefficient adapts towards it (arXiv 1909.08593)"),
  kl_horizon: z.number().positive().default(10_000).describe("Episodes in which kl_coefficient may change by a fifth"),
  stop_kl: z
    .number()
    .positive()
    .optional()
    .describe(
      "Divergence from the old policy, nats a token, above which the policy's remaining updates of the batch are left out",
    ),

  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-6),
  adam_epsilon: optimizerOptions.adam_epsilon.default(1e-5),
});

/** Options of `ppo@1`, as they stand in a YAML file. The README has the formula of each named choice. */
export const ppoOptions = withOptionRules(schema, (options) => {
  const { critic, kl_coefficient: coefficient, kl_placement: placement } = options;
  const isOneUpdate = options.updates_per_step * options.minibatches === 1;
  return [
    {
      when: critic === "shared",
      options: ["critic_path", "critic_learning_rate", "critic_warmup_steps"],
      because: "is for a separate critic; a shared one is the policy itself (set critic: separate, or leave it out)",
    },
    {
      when: coefficient === 0,
      options: ["kl_target"],
      because: "adapts kl_coefficient, which is 0 and stays so (set it to where it should start, 0.05 for instance)",
    },
    {
      when: coefficient === 0,
      options: ["kl_placement", "kl_estimator", "kl_clip"],
      because: "has no effect while kl_coefficient is 0",
    },
    {
      when: coefficient > 0 && placement === "reward",
      options: ["kl_estimator"],
      because: "has no effect in the reward, where the divergence is k1 (kl_placement: loss has a choice)",
    },
    {
      when: coefficient > 0 && placement === "loss",
      options: ["kl_clip"],
      because: "has no effect with kl_placement: loss",
    },
    { when: options.kl_target === undefined, options: ["kl_horizon"], because: "has no effect without kl_target" },
    {
      when: options.minibatches > options.prompts_per_step,
      options: ["minibatches"],
      because: `is more than prompts_per_step (${options.prompts_per_step}): some would be empty`,
    },
    {
      when: options.critic_warmup_steps >= options.steps,
      options: ["critic_warmup_steps"],
      because: `is not below steps (${options.steps}): the policy would never learn`,
    },
    {
      when: isOneUpdate,
      options: ["stop_kl"],
      because: "has no effect with one update of each batch, after which none is left to leave out",
    },
    {
      when: isOneUpdate,
      options: ["value_clip"],
      because: "has no effect with one update of each batch, in which every value is the old one",
    },
    {
      when: options.on_length === "mask",
      options: ["cut_penalty"],
      because: "has no effect with on_length: mask, which leaves cut episodes out",
    },
    ...optimizerRules(options),
  ];
});

/** Options of `ppo@1`, defaults filled in. */
export type PpoOptions = z.output<typeof ppoOptions>;
