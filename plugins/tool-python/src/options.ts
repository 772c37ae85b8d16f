import { sandboxLimits } from "@mrlm/kit/options";
import { z } from "zod";

/** Options of the plugin. */
export const options = z
  .strictObject({
    idle_ms: z
      .int()
      .min(100)
      .max(86_400_000)
      .default(600_000)
      .describe("Time without a call after which a session is closed and its state lost"),
    limits: sandboxLimits
      .extend({
        output_kb: z.int().min(1).max(1024).default(16).describe("Of stdout, of stderr and of the value, each"),
      })
      .prefault({})
      .describe("Of one call; memory_mb of the session. Omitted ones are those of the sandbox"),
  })
  .prefault({});
