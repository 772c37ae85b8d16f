import { optimizerOptions, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
import { z } from "zod";

/** What is learnt from a source; said once for all, or for one of them. */
const lessons = {
  min_reward: z.number().optional().describe("Recorded episodes that earned less are left out"),
  demonstrations: z
    .int()
    .positive()
    .optional()
    .describe("Training tasks of each environment to take demonstrations of; default: all"),
  action_weight: z
    .number()
    .nonnegative()
    .optional()
    .describe("Weight of the tokens that the policy is to say; default 1"),
  observation_weight: z
    .number()
    .nonnegative()
    .optional()
    .describe("Weight of the tokens that the environment answered a turn with (a world model); default 0"),
};

const source = z
  .strictObject({
    path: z.string().optional().describe("A file as `data` names one; without it the environments' own demonstrations"),
    weight: z.number().positive().default(1).describe("Share of the conversations, relative to the other sources"),
    ...lessons,
  })
  .superRefine(({ path, demonstrations, min_reward }, context) => {
    const refuse = (name: string, input: unknown, message: string): void =>
      context.addIssue({ code: "custom", path: [name], message, input });
    if (path !== undefined && demonstrations !== undefined)
      refuse("demonstrations", demonstrations, "has no effect on a file: it is of environments' own demonstrations");
    if (path === undefined && min_reward !== undefined)
      refuse(
        "min_reward",
        min_reward,
        "has no effect on environments' own demonstrations (it is for episodes of a file)",
      );
  });

const schema = z.strictObject({
  steps: z.int().positive().describe("Optimiser steps"),
  batch_size: z.int().positive().default(64).describe("Conversations in each step"),
  data: z
    .union([z.string(), z.array(source).min(1)])
    .optional()
    .describe(
      "JSONL or Parquet file of {messages} or {prompt, completion}, or of episodes that `mrlm collect` wrote, relative to the config; or several sources. Without it the environments' own demonstrations",
    ),
  ...lessons,
  max_length: z.int().positive().optional().describe("Tokens of one conversation; default: the model's positions"),
  on_overlong: z
    .enum(["refuse", "truncate", "skip"])
    .default("refuse")
    .describe("Conversations that are longer: say so before training, cut their end off, or leave them out"),
  aggregation: z
    .enum(["token_mean", "sequence_mean"])
    .default("token_mean")
    .describe("token_mean: every token weighs the same; sequence_mean: every conversation does"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});

/** Options of `sft@1`, as they stand in a YAML file. */
export const sftOptions = withOptionRules(schema, (options) => {
  const sources = sourcesOf(options);
  return [
    {
      when: sources.every(({ path }) => path !== undefined),
      options: ["demonstrations"],
      because: "has no effect: every source of data is a file",
    },
    {
      when: sources.every(({ path }) => path === undefined),
      options: ["min_reward"],
      because: "has no effect on the environments' own demonstrations (it is for episodes of a file)",
    },
    ...optimizerRules(options),
  ];
});

/** Options of `sft@1`, defaults filled in. */
export type SftOptions = z.output<typeof sftOptions>;

/** One source of conversations. */
export interface SftSource {
  /** A file; without it the environments' demonstrations. */
  readonly path?: string;
  readonly weight: number;
  readonly min_reward?: number | undefined;
  readonly demonstrations?: number | undefined;
  readonly action_weight: number;
  readonly observation_weight: number;
}

/** The sources that the options name, each with what holds for all of them. */
export function sourcesOf({
  data,
  min_reward,
  demonstrations,
  action_weight,
  observation_weight,
}: SftOptions): SftSource[] {
  const named = typeof data === "string" ? [{ path: data, weight: 1 }] : (data ?? [{ weight: 1 }]);
  return named.map(({ path, weight, ...own }) => {
    const all = { min_reward, demonstrations, action_weight, observation_weight, ...own };
    return {
      ...all,
      weight,
      action_weight: all.action_weight ?? 1,
      observation_weight: all.observation_weight ?? 0,
      ...(path === undefined ? {} : { path }),
    };
  });
}
