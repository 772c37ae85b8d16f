import { z } from "zod";

const level = z.int().min(1).max(4);

/** Options of `desk@1` in a configuration file. */
export const deskOptions = z.strictObject({
  domains: z
    .array(z.enum(["shop", "flights"]))
    .min(1)
    .default(["shop", "flights"])
    .describe(
      "Desks of the tasks, mixed evenly: returns and exchanges of a shop, cancellations and changes of flights",
    ),
  levels: z
    .union([level, z.tuple([level, level]).refine(([low, high]) => low <= high, "the lower level comes first")])
    .default([1, 4])
    .describe(
      "One level or [lowest, highest]: 1: the customer states number and name, and asks for a refund; 2: they must be asked for, and there are changes; 3: some customers are another person; 4: two requests",
    ),
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("Texts in sentences, or as few characters as can be and without the policy, for small models"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Training tasks"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Held-out tasks"),
  task_seed: z.int().default(0).describe("Another seed gives other tasks, and another division into train and eval"),
});

export type DeskOptions = z.output<typeof deskOptions>;
