import { optimizerOptions } from "@mrlm/kit";
import { z } from "zod";

/** Options of `sft@1`, as they stand in a YAML file. */
export const sftOptions = z.strictObject({
  steps: z.int().positive().describe("Optimiser steps"),
  batch_size: z.int().positive().default(64).describe("Conversations in each step"),
  data: z.string().optional().describe("JSONL file of {messages} or {prompt, completion}, relative to the config; without it the environments' own demonstrations"),
  demonstrations: z.int().positive().optional().describe("Training tasks of each environment to take demonstrations of; default: all"),
  aggregation: z
    .enum(["token_mean", "sequence_mean"])
    .default("token_mean")
    .describe("token_mean: every token weighs the same; sequence_mean: every conversation does"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});

/** Options of `sft@1`, defaults filled in. */
export type SftOptions = z.output<typeof sftOptions>;
