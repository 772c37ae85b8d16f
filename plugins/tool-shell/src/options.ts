import { workspaceLimits } from "@mrlm/kit/options";
import { z } from "zod";

/** Options of the plugin. */
export const options = z
  .strictObject({
    image: z
      .string()
      .min(1)
      .optional()
      .describe("Image of the provider of workspaces. Default: the host's system folders"),
    timeout_ms: z.int().min(100).max(3_600_000).default(30_000).describe("Longest time of a call of `bash`"),
    limits: workspaceLimits
      .omit({ timeout_ms: true })
      .extend({ output_kb: z.int().min(1).max(1024).default(16).describe("Of the output of a call") })
      .prefault({})
      .describe("Of the workspace. Omitted ones are those of the provider"),
  })
  .prefault({});
