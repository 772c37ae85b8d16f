import { bridgeOptions, tokenOf } from "@mrlm/kit/bridge";
import { z } from "zod";

export const orsOptions = z
  .strictObject({
    ...bridgeOptions,
    text_tool: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Tool that takes a message without a call, as its one text argument; default: `submit`, else the terminal tool that the server states",
      ),
    seed_field: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Field of a task that takes the seed of an episode, with `determinism: full`; a server of mrlm has `seed`",
      ),
  })
  .superRefine((options, context) => {
    if (options.token_env !== undefined && tokenOf(options) === undefined)
      context.addIssue({
        code: "custom",
        path: ["token_env"],
        message: `names the environment variable ${options.token_env}, which is not set`,
      });
  });

export type OrsOptions = z.output<typeof orsOptions>;
