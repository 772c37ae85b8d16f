import { z } from "zod";

export const options = z.strictObject({
  project: z.string().min(1).default("mrlm").describe("Project of the run"),
  entity: z.string().min(1).optional().describe("User or team; default: W&B's"),
  group: z.string().min(1).optional().describe("Group that the run is shown in"),
  tags: z.array(z.string().min(1)).default([]).describe("Tags of the run"),
  mode: z
    .enum(["online", "offline"])
    .optional()
    .describe("`offline` writes to the run's directory only, for `wandb sync`; default: WANDB_MODE, else online"),
  config: z.boolean().default(true).describe("Whether the run's configuration is logged too"),
  python: z
    .string()
    .min(1)
    .optional()
    .describe("A Python that has the package wandb; default: MRLM_WANDB_PYTHON, else `python3`"),
  finish_seconds: z
    .number()
    .positive()
    .default(120)
    .describe("How long the end of the run waits for what is still to be sent"),
});
export type Options = z.output<typeof options>;
