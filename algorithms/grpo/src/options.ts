import {
  mismatchOptions,
  mismatchRules,
  optimizerOptions,
  type OptionRule,
  optimizerRules,
  withOptionRules,
} from "@mrlm/kit/learning";
import { z } from "zod";
import { aggregationNames } from "./aggregation.ts";
import { optionsOfLoss, type OwnLoss, policyLossNames, type PolicyLossOptions } from "./losses/index.ts";

const schema = z.strictObject({
  steps: z.int().positive().describe("Iterations: one batch of episodes each"),
  prompts_per_step: z.int().positive().default(32).describe("Tasks in each batch"),
  group_size: z.int().positive().default(8).describe("Episodes of each task"),
  updates_per_step: z.int().positive().default(1).describe("Passes over each batch; old log-probabilities stay frozen"),
  minibatches: z.int().positive().default(1).describe("Optimizer steps in each pass"),

  baseline: z
    .enum(["group_mean", "leave_one_out", "role_average"])
    .default("group_mean")
    .describe("Baseline that is subtracted from an episode's reward"),
  baseline_decay: z
    .number()
    .nonnegative()
    .lt(1)
    .default(0.95)
    .describe("Weight of earlier batches in the moving average of each role, with baseline: role_average"),
  credit: z
    .enum(["episode", "turn", "state", "branch"])
    .default("episode")
    .describe(
      "Advantage of a whole episode, or of each turn by its return to go: compared with the same turn of the other episodes, or with their turns in the same state (info.stateKey of observations); or of each turn by what episodes earn that are played on from the states before and after it",
    ),
  branches: z
    .int()
    .positive()
    .default(4)
    .describe("Episodes that are played on from a state, beside the episode itself, with credit: branch"),
  branch_every: z
    .int()
    .positive()
    .default(1)
    .describe("Branches start at the turns 0, branch_every, 2 branch_every, ... of an agent, with credit: branch"),
  gamma: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("Discount of each later turn in a return to go, with credit: turn or state"),
  scale: z.enum(["none", "group_std", "batch_std"]).default("none").describe("Divisor of the advantages"),
  policy_loss: z
    .enum(policyLossNames)
    .default("clip")
    .describe("The surrogate: PPO's clip, or that of GSPO, CISPO or MiniRL"),
  clip_low: z.number().positive().max(1).default(0.2).describe("Lower bound of the ratio is 1 - clip_low"),
  clip_high: z.number().positive().default(0.2).describe("Upper bound of the ratio is 1 + clip_high"),
  dual_clip: z
    .number()
    .gt(1)
    .optional()
    .describe("Bound of the loss of tokens with a negative advantage (arXiv 1912.09729)"),
  minirl_epsilon_high: z
    .number()
    .nonnegative()
    .default(0.1)
    .describe("Added to clip_low for the upper bound of the ratio, with policy_loss: minirl"),
  minirl_cap: z
    .number()
    .positive()
    .default(4)
    .describe("Factor of minirl's bounds for samples of the newest weights; it falls as 1/(1 + age)"),
  aggregation: z
    .enum(aggregationNames)
    .default("token_mean")
    .describe("Mean over tokens, mean over episodes of their means, or sum over tokens by a constant length"),
  ...mismatchOptions,

  kl_coefficient: z.number().nonnegative().default(0).describe("Weight of the divergence from the reference"),
  kl_estimator: z.enum(["k1", "k2", "k3"]).default("k3").describe("Estimator of that divergence"),
  kl_importance: z
    .boolean()
    .default(true)
    .describe("Weigh the estimator by the ratio: the reverse-KL gradient, off-policy too"),
  distill_coefficient: z
    .number()
    .nonnegative()
    .default(0)
    .describe(
      "Weight of the teacher's log-probability against the policy's in the advantage of each token. The teacher is the reference_model",
    ),
  reward_coefficient: z
    .number()
    .nonnegative()
    .default(1)
    .describe("Weight of the advantage of the reward beside the teacher's, with distill_coefficient; 0: none"),
  distill_top_k: z
    .union([z.int().positive(), z.literal("all")])
    .optional()
    .describe(
      "Compute the divergence from the teacher over so many of the policy's most likely tokens and the rest, or over all, as a loss of its own; without it the sampled token estimates it",
    ),
  entropy_coefficient: z.number().nonnegative().default(0).describe("Weight of the entropy bonus"),

  dynamic_sampling: z
    .int()
    .nonnegative()
    .default(0)
    .describe("Further batches to sample in place of groups without signal (DAPO); 0: none"),
  on_length: z
    .enum(["keep", "mask"])
    .default("keep")
    .describe("Episodes cut by a token limit: train on them, or leave them out"),
  overlong_buffer: z
    .int()
    .nonnegative()
    .default(0)
    .describe("Tokens before sampling.max_tokens over which the reward falls (DAPO); 0: off"),
  overlong_penalty: z.number().nonnegative().default(1).describe("Penalty of an answer of sampling.max_tokens tokens"),
  max_staleness: z.int().nonnegative().optional().describe("Largest age of a token, in weight versions"),

  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-6),
});

/** Options that only surrogates of this package read, and their choice. */
const surrogate = {
  policy_loss: true,
  clip_low: true,
  clip_high: true,
  dual_clip: true,
  minirl_epsilon_high: true,
  minirl_cap: true,
} as const;
const common = schema.omit(surrogate);

type CommonOptions = z.output<typeof common>;

/** Options of `grpo@1`, as in a YAML file. The README has the formula of each named choice. */
export const grpoOptions = withOptionRules(schema, (options) => {
  const { policy_loss: loss } = options;
  const { read, unread } = optionsOfLoss(loss);
  return [
    { when: true, options: unread, because: `has no effect with policy_loss: ${loss}, which reads ${read.join(", ")}` },
    {
      when: loss === "gspo",
      options: [
        ...(options.distill_coefficient > 0 ? (["distill_coefficient"] as const) : []),
        ...(options.credit !== "episode" ? (["credit"] as const) : []),
      ],
      because: "gives each token an advantage of its own, and policy_loss: gspo has one for the episode",
    },
    ...commonRules(options),
  ];
});

/** Returns the options of an algorithm with a loss of its own: those that no surrogate of this package reads alone, and those of the loss. */
export function optionsWithLoss<Shape extends z.ZodRawShape>(shape: Shape) {
  return withOptionRules(common.extend(shape), (options) => commonRules(options as unknown as CommonOptions) as never);
}

/** Rules about options that do not concern the surrogate. */
function commonRules(options: CommonOptions): readonly OptionRule<Extract<keyof CommonOptions, string>>[] {
  return [
    {
      when: options.baseline !== "role_average",
      options: ["baseline_decay"],
      because: "has no effect without baseline: role_average",
    },
    {
      when: options.baseline === "role_average" && options.dynamic_sampling > 0,
      options: ["dynamic_sampling"],
      because: "has no effect with baseline: role_average, with which equal rewards of a group have a signal",
    },
    {
      when: options.credit === "episode",
      options: ["gamma"],
      because: "has no effect with credit: episode",
    },
    {
      when: options.credit !== "branch",
      options: ["branches", "branch_every"],
      because: "has no effect without credit: branch",
    },
    {
      when: options.credit === "branch",
      options: ["baseline", "gamma"],
      because: "has no effect with credit: branch, whose baselines are the returns of branches, without a discount",
    },
    {
      when: options.credit === "branch",
      options: ["on_length", "overlong_buffer"],
      because: "judges whole episodes by their lengths, and branches are compared by what they earn",
    },
    {
      when: options.credit !== "episode" && options.baseline === "role_average",
      options: ["credit"],
      because: "compares the turns of a group, and baseline: role_average compares with no group",
    },
    {
      when: options.credit !== "episode" && options.scale === "group_std",
      options: ["scale"],
      because:
        "group_std divides by a deviation of whole episodes, and one by turn would weigh turns by it; with credit by turn set scale: none or batch_std",
    },
    ...mismatchRules(options),
    {
      when: options.kl_coefficient === 0,
      options: ["kl_estimator", "kl_importance"],
      because: "has no effect while kl_coefficient is 0",
    },
    {
      when: options.distill_coefficient === 0,
      options: ["reward_coefficient", "distill_top_k"],
      because: "has no effect without distill_coefficient",
    },
    {
      when: options.distill_coefficient > 0,
      options: ["kl_coefficient"],
      because: "measures the divergence from the reference_model, which is the teacher with distill_coefficient",
    },
    {
      when: options.distill_coefficient > 0,
      options: ["dynamic_sampling"],
      because: "has no effect with distill_coefficient, with which every group has a signal",
    },
    {
      when: options.distill_coefficient > 0 && options.reward_coefficient === 0,
      options: [
        ...(["baseline", "baseline_decay", "credit", "branches", "branch_every"] as const),
        ...(["gamma", "scale", "overlong_buffer", "overlong_penalty"] as const),
      ],
      because: "has no effect with reward_coefficient: 0",
    },
    {
      when: options.overlong_buffer === 0,
      options: ["overlong_penalty"],
      because: "has no effect without an overlong_buffer",
    },
    {
      when: options.minibatches > options.prompts_per_step,
      options: ["minibatches"],
      because: `is more than prompts_per_step (${options.prompts_per_step}): some would be empty`,
    },
    ...optimizerRules(options),
  ];
}

/** Options of `grpo@1`, defaults filled in. */
export type GrpoOptions = z.output<typeof grpoOptions>;

/** Options of a run: those of `grpo@1`, or of an algorithm with a loss of its own. */
export type GrpoSettings = CommonOptions & (PolicyLossOptions | OwnLoss);

/** Whether the updates evaluate the reference: for a divergence, or as a teacher. */
export function evaluatesReference(options: CommonOptions): boolean {
  return options.kl_coefficient > 0 || options.distill_coefficient > 0;
}

/** Returns whether the teacher's term is a loss of its own, and not a part of the advantages. */
export function hasOwnDivergence(options: GrpoSettings): options is GrpoSettings & { distill_top_k: number | "all" } {
  return options.distill_coefficient > 0 && options.distill_top_k !== undefined;
}
