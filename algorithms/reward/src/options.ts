import { optimizerOptions, optimizerRules, withOptionRules } from "@mrlm/kit/learning";
import { z } from "zod";

const schema = z.strictObject({
  steps: z.int().positive().describe("Optimizer steps"),
  batch_size: z.int().positive().default(32).describe("Pairs, or conversations with judged steps, in each step"),
  data: z
    .string()
    .describe(
      "JSONL or Parquet file of pairs {prompt, chosen, rejected, margin}, of judged steps {messages, labels}, or of episodes that `mrlm collect` wrote, relative to the config",
    ),
  margin_coefficient: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Margin of a pair of episodes: this times the difference of their rewards"),
  center_coefficient: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Weight of the squared sum of both scores of a pair, which keeps scores near 0"),
  heldout: z
    .string()
    .optional()
    .describe("File of the same form that is measured and not learnt, for example with the labels of another judge"),
  heldout_every: z.int().positive().default(10).describe("Steps between two measurements on `heldout`"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});

/** Options of `reward@1`, as in a YAML file. */
export const rewardOptions = withOptionRules(schema, (options) => [
  { when: options.heldout === undefined, options: ["heldout_every"], because: "has no effect without heldout" },
  ...optimizerRules(options),
]);

/** Options of `reward@1`, defaults filled in. */
export type RewardOptions = z.output<typeof rewardOptions>;
