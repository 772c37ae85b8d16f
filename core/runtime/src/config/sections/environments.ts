import { z } from "zod";
import { pluginOptions } from "./json-schema.ts";

/** One of `environments`. */
export const environmentSection = z.strictObject({
  id: z.string().min(1).describe("`math@1`, or `math` for the newest version installed"),
  options: pluginOptions.optional().describe("The environment's own options"),
  weight: z
    .number()
    .positive()
    .optional()
    .describe("Share of the training tasks, relative to the other environments; default 1"),
  max_turns: z.int().positive().optional().describe("On top of the environment's own limit"),
});
