import { optimizerOptions } from "@mrlm/kit";
import { z } from "zod";

/** Options of `sft@1`, as they stand in a YAML file. */
export const sftOptions = z.strictObject({
  steps: z.int().positive().describe("Optimiser steps"),
  batch_size: z.int().positive().default(64).describe("Conversations in each step"),
  data: z.string().optional().describe("JSONL or Parquet file of {messages} or {prompt, completion}, or of episodes that `mrlm collect` wrote, relative to the config; without it the environments' own demonstrations"),
  min_reward: z.number().optional().describe("Collected episodes that earned less are left out"),
  demonstrations: z.int().positive().optional().describe("Training tasks of each environment to take demonstrations of; default: all"),
  max_length: z.int().positive().optional().describe("Tokens of one conversation; default: the model's positions"),
  on_overlong: z.enum(["refuse", "truncate", "skip"]).default("refuse").describe("Conversations that are longer: say so before training, cut their end off, or leave them out"),
  aggregation: z
    .enum(["token_mean", "sequence_mean"])
    .default("token_mean")
    .describe("token_mean: every token weighs the same; sequence_mean: every conversation does"),
  ...optimizerOptions,
  learning_rate: optimizerOptions.learning_rate.default(1e-5),
});

/** Options of `sft@1`, defaults filled in. */
export type SftOptions = z.output<typeof sftOptions>;
