import { mismatchOptions, mismatchRules, optimizerOptions, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
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
  minibatches: z.int().positive().default(1).describe("Optimizer steps in each pass"),

  clip_low: z.number().positive().max(1).default(0.2).describe("Lower bound of the ratio is 1 - clip_low"),
  clip_high: z.number().positive().default(0.2).describe("Upper bound of the ratio is 1 + clip_high"),
  dual_clip: z
    .number()
    .gt(1)
    .optional()
    .describe("Bound of the loss of tokens with a negative advantage (arXiv 1912.09729)"),
  ...mismatchOptions,
  entropy_coefficient: z.number().nonnegative().default(0).describe("Weight of the entropy bonus"),

  gamma: z.number().min(0).max(1).default(1).describe("Discount of each chosen token"),
  gae_lambda: z.number().min(0).max(1).default(0.95).describe("λ of the policy's advantages"),
  value_lambda: z.number().min(0).max(1).optional().describe("λ of the critic's targets; default gae_lambda"),
  whiten_advantages: z.boolean().default(true).describe("Normalise advantages over the chosen tokens of the batch"),
  reward_clip: z.number().positive().optional().describe("Largest magnitude of a step's reward"),
  cut_penalty: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Subtracted from the last reward of an episode with a cut answer"),
  on_length: z
    .enum(["keep", "mask"])
    .default("keep")
    .describe("Episodes cut by a token limit: train on them, or leave them out"),

  critic: z
    .enum(["separate", "shared"])
    .default("separate")
    .describe("A model of its own, or a value head on the policy's backbone"),
  critic_path: z
    .string()
    .optional()
    .describe(
      "Hugging Face directory of the initial weights of a separate critic; default: a copy of the policy at the start",
    ),
  critic_learning_rate: z
    .number()
    .positive()
    .optional()
    .describe("Learning rate of a separate critic; default: ten times learning_rate"),
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
      "Factor of the value loss; default 0.5 on a shared backbone. A separate critic has its own optimizer: the factor matters only for max_grad_norm, and its default is 1",
    ),
  value_clip: z
    .number()
    .positive()
    .optional()
    .describe("Largest distance of a value from the old one; beyond it the value loss has no gradient"),

  kl_coefficient: z.number().nonnegative().default(0).describe("Weight of the divergence from the reference"),
  kl_placement: z
    .enum(["reward", "loss"])
    .default("reward")
    .describe("Subtract the divergence from the reference from the reward, or add it to the loss"),
  kl_estimator: z.enum(["k1", "k2", "k3"]).default("k3").describe("Estimator in the loss; in the reward it is k1"),
  kl_clip: z.number().positive().optional().describe("Largest magnitude of a token's log-ratio in the reward"),
  kl_target: z
    .number()
    .positive()
    .optional()
    .describe("Target of the divergence in nats per episode, to which kl_coefficient adapts (arXiv 1909.08593)"),
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

/** Options of `ppo@1`, as in a YAML file. The README has the formula of each named choice. */
export const ppoOptions = withOptionRules(schema, (options) => {
  const { critic, kl_coefficient: coefficient, kl_placement: placement } = options;
  const isOneUpdate = options.updates_per_step * options.minibatches === 1;
  return [
    {
      when: critic === "shared",
      options: ["critic_path", "critic_learning_rate", "critic_warmup_steps"],
      because:
        "is an option of a separate critic; a shared critic is the policy itself (set critic: separate, or leave it out)",
    },
    {
      when: coefficient === 0,
      options: ["kl_target"],
      because: "adapts kl_coefficient, which is 0 and would stay 0 (set kl_coefficient to a start value such as 0.05)",
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
      because: "has no effect with one update of each batch, because no later update can be left out",
    },
    {
      when: isOneUpdate,
      options: ["value_clip"],
      because: "has no effect with one update of each batch, because every value equals the old one",
    },
    {
      when: options.on_length === "mask",
      options: ["cut_penalty"],
      because: "has no effect with on_length: mask, which leaves cut episodes out",
    },
    ...mismatchRules(options),
    ...optimizerRules(options),
  ];
});

/** Options of `ppo@1`, defaults filled in. */
export type PpoOptions = z.output<typeof ppoOptions>;
