import { defined } from "@mrlm/kit";
import { optimizerOptions, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
import { z } from "zod";

/** Options that hold for all sources, or for one source. */
const sourceOptions = {
  min_reward: z.number().optional().describe("Recorded episodes with a smaller reward are left out"),
  demonstrations: z
    .int()
    .positive()
    .optional()
    .describe("Training tasks of each environment to take demonstrations of; default: all"),
  action_weight: z.number().nonnegative().optional().describe("Weight of the tokens of assistant messages; default 1"),
  observation_weight: z
    .number()
    .nonnegative()
    .optional()
    .describe("Weight of the tokens with which the environment answered a turn (a world model); default 0"),
};

const source = z
  .strictObject({
    path: z
      .string()
      .optional()
      .describe("Path of a file, as in `data`; without it the environments' own demonstrations"),
    weight: z.number().positive().default(1).describe("Share of the conversations, relative to the other sources"),
    ...sourceOptions,
  })
  .superRefine(({ path, demonstrations, min_reward }, context) => {
    const refuse = (name: string, input: unknown, message: string): void =>
      context.addIssue({ code: "custom", path: [name], message, input });
    if (path !== undefined && demonstrations !== undefined)
      refuse("demonstrations", demonstrations, "has no effect on a file (it is for environments' own demonstrations)");
    if (path === undefined && min_reward !== undefined)
      refuse(
        "min_reward",
        min_reward,
        "has no effect on environments' own demonstrations (it is for episodes of a file)",
      );
  });

const schema = z.strictObject({
  steps: z.int().positive().describe("Optimizer steps"),
  batch_size: z.int().positive().default(64).describe("Conversations in each step"),
  data: z
    .union([z.string(), z.array(source).min(1)])
    .optional()
    .describe(
      "JSONL or Parquet file of {messages} or {prompt, completion}, or of episodes that `mrlm collect` wrote, relative to the config; or several sources. Without it the environments' own demonstrations",
    ),
  ...sourceOptions,
  max_length: z.int().positive().optional().describe("Tokens of one conversation; default: the model's positions"),
  on_overlong: z
    .enum(["refuse", "truncate", "skip"])
    .default("refuse")
    .describe("Longer conversations: refuse them before training, cut their end, or leave them out"),
  aggregation: z
    .enum(["token_mean", "sequence_mean"])
    .default("token_mean")
    .describe("token_mean: every token has the same weight; sequence_mean: every conversation has"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});

/** Options of `sft@1`, as in a YAML file. */
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
  /** Path of a file. Absent for the demonstrations of the environments. */
  readonly path?: string;
  readonly weight: number;
  readonly min_reward?: number | undefined;
  readonly demonstrations?: number | undefined;
  readonly action_weight: number;
  readonly observation_weight: number;
}

/** Returns the sources of the options. Options for all sources are the defaults of each. */
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
      ...defined({ path }),
    };
  });
}
