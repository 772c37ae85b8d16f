import { z } from "zod";
import { pluginOptions } from "./json-schema.ts";

/** Entry of `environments`. */
export const environmentSection = z.strictObject({
  id: z.string().min(1).describe("`math@1`, or `math` for the newest version installed"),
  options: pluginOptions.optional().describe("Options of the environment"),
  weight: z
    .number()
    .positive()
    .optional()
    .describe("Share of the training tasks, relative to the other environments; default 1"),
  max_turns: z.int().positive().optional().describe("Turn limit of an episode, beside the environment's own"),
});
