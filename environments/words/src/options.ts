import { z } from "zod";

const level = z.int().min(1).max(5);

/** Options of `words@1` in a configuration file. */
export const wordsOptions = z.strictObject({
  games: z
    .array(z.enum(["wordle", "hangman", "questions"]))
    .min(1)
    .default(["wordle", "hangman", "questions"])
    .describe("Games of the tasks, mixed evenly"),
  levels: z
    .union([level, z.tuple([level, level]).refine(([low, high]) => low <= high, "the lower level comes first")])
    .default([1, 3])
    .describe("One level or [lowest, highest], 1 to 5: more and longer words"),
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("Rules and replies in sentences, or as few characters as can be, for small models"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Training tasks"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Held-out tasks"),
  task_seed: z.int().default(0).describe("Another seed gives other tasks, and another division into train and eval"),
});

export type WordsOptions = z.output<typeof wordsOptions>;
