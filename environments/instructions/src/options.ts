import { z } from "zod";

const level = z.int().min(1).max(5);

/** Options of `instructions@1` in a configuration file. */
export const instructionsOptions = z.strictObject({
  forms: z
    .array(z.enum(["line", "list", "prose", "json"]))
    .min(1)
    .default(["line", "list", "prose", "json"])
    .describe("Forms of the answers, mixed evenly. The terse style has lines only"),
  levels: z
    .union([level, z.tuple([level, level]).refine(([low, high]) => low <= high, "the lower level comes first")])
    .default([1, 3])
    .describe("One level or [lowest, highest], 1 to 5: more items, conditions and instructions"),
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("The task in sentences, or as few characters as can be, for small models"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Training tasks"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Held-out tasks"),
  task_seed: z.int().default(0).describe("Another seed gives other tasks, and another division into train and eval"),
});

export type InstructionsOptions = z.output<typeof instructionsOptions>;
