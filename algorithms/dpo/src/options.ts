import { optimizerOptions, type OptionRule, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
import { z } from "zod";
import { type LossEntry, lossEntry, lossNames, type PreferenceLossOptions, unreadOptions } from "./losses/index.ts";

const schema = z.strictObject({
  steps: z.int().positive().describe("Optimizer steps"),
  batch_size: z.int().positive().default(32).describe("Pairs, or single answers, in each step"),

  loss: z.enum(lossNames).default("sigmoid").describe("Preference loss: DPO, SLiC, IPO, SimPO, ORPO or KTO"),
  beta: z
    .number()
    .positive()
    .default(0.1)
    .describe(
      "Strength of the reference: a smaller value allows a larger divergence of the policy; with loss: orpo the weight of the odds ratio",
    ),
  label_smoothing: z
    .number()
    .min(0)
    .lt(0.5)
    .default(0)
    .describe("Assumed share of pairs with swapped labels (cDPO), with sigmoid and simpo"),
  simpo_margin: z.number().nonnegative().default(0.5).describe("Margin between the two, with loss: simpo"),
  kto_desirable_weight: z
    .number()
    .nonnegative()
    .default(1)
    .describe("Weight of chosen or desirable answers, with loss: kto"),
  kto_undesirable_weight: z
    .number()
    .nonnegative()
    .default(1)
    .describe("Weight of rejected or undesirable answers, with loss: kto"),
  nll_coefficient: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Weight of the negative log-likelihood of the chosen answer, added to the preference loss"),
  reference_free: z.boolean().default(false).describe("Use no reference: all answers count as equally likely under it"),
  reference: z
    .enum(["model", "precomputed"])
    .default("model")
    .describe("A frozen model that is evaluated at every step, or its log-probabilities, computed once"),

  data: z
    .string()
    .optional()
    .describe(
      "JSONL or Parquet file of {prompt, chosen, rejected}, with loss: kto also of {prompt, completion, label}, or of episodes that `mrlm collect` wrote, relative to the config; without it pairs are made from episodes",
    ),
  prompts: z.int().positive().default(256).describe("Tasks to play for pairs, without `data`"),
  group_size: z.int().min(2).default(8).describe("Episodes of each task"),
  pairs_per_group: z
    .int()
    .positive()
    .default(1)
    .describe("Pairs of each group: best and worst, second best and second worst, ..."),
  desirable_reward: z
    .number()
    .optional()
    .describe(
      "With loss: kto, learn from each scored episode alone: desirable from this reward on, else undesirable; without it from pairs",
    ),
  collect_every: z
    .int()
    .nonnegative()
    .default(0)
    .describe("Steps between two rounds of episodes; 0: one round, at the start"),

  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-6),
});

/** Options that only losses of this package read, and their choice. */
const ofLosses = {
  loss: true,
  label_smoothing: true,
  simpo_margin: true,
  kto_desirable_weight: true,
  kto_undesirable_weight: true,
  desirable_reward: true,
} as const;
const common = schema.omit(ofLosses);

type CommonOptions = z.output<typeof common>;

/** Options of `dpo@1`, as in a YAML file. The README has the formula of each named choice. */
export const dpoOptions = withOptionRules(schema, (options) => {
  const { loss } = options;
  const { needs, takesSingles } = lossEntry(loss);
  return [
    { when: true, options: unreadOptions(loss), because: `has no effect with loss: ${loss}` },
    {
      when: options.kto_desirable_weight === 0 && options.kto_undesirable_weight === 0,
      options: ["kto_desirable_weight"],
      because: "and kto_undesirable_weight are both 0: the loss would be constant",
    },
    {
      when: loss === "orpo",
      options: ["nll_coefficient"],
      because: "cannot be used with loss: orpo, which has the likelihood of the chosen answer with weight 1",
    },
    {
      when: !takesSingles,
      options: ["desirable_reward"],
      because: `cannot be used with loss: ${loss}, which compares two answers`,
    },
    {
      when: options.desirable_reward !== undefined,
      options: ["pairs_per_group"],
      because: "has no effect beside desirable_reward, with which no pairs are made",
    },
    ...commonRules(options, { loss, needs }),
  ];
});

/** Returns the options of an algorithm with a loss of its own: those that losses of this package do not read alone, and those of the loss. */
export function optionsWithLoss<Shape extends z.ZodRawShape>(
  shape: Shape,
  own: { readonly loss: string; readonly needs: LossEntry["needs"] },
) {
  return withOptionRules(
    common.extend(shape),
    (options) => commonRules(options as unknown as CommonOptions, own) as never,
  );
}

/** Rules about options that other losses than those of this package have too. */
function commonRules(
  options: CommonOptions,
  { loss, needs }: { readonly loss: string; readonly needs: LossEntry["needs"] },
): readonly OptionRule<Extract<keyof CommonOptions, string>>[] {
  return [
    {
      when: needs === "nothing",
      options: ["reference", "reference_free"],
      because: `has no effect with loss: ${loss}, which has no reference`,
    },
    {
      when: needs === "divergence",
      options: ["reference_free"],
      because: `cannot be used with loss: ${loss}, which measures the divergence from its reference`,
    },
    { when: options.reference_free, options: ["reference"], because: "has no effect beside reference_free" },
    {
      when: options.data !== undefined,
      options: ["prompts", "group_size", "collect_every"],
      because: "is an option for played episodes and has no effect on pairs of a file (leave it or data out)",
    },
    {
      when: options.data === undefined && options.pairs_per_group > options.group_size / 2,
      options: ["pairs_per_group"],
      because: `is more than a group of ${options.group_size} has pairs`,
    },
    {
      when: options.collect_every >= options.steps,
      options: ["collect_every"],
      because: `is not below steps (${options.steps}): nothing would be played anew`,
    },
    ...optimizerRules(options),
  ];
}

/** Options of `dpo@1`, defaults filled in. */
export type DpoOptions = z.output<typeof dpoOptions>;

/** Options of a run: those of `dpo@1`, or of an algorithm with a loss of its own. */
export type DpoSettings = Omit<DpoOptions, "loss"> & PreferenceLossOptions;
