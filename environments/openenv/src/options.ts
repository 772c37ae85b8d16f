import { bridgeOptions, tokenOf } from "@mrlm/kit/bridge";
import { z } from "zod";

export const openEnvOptions = z
  .strictObject({
    ...bridgeOptions,
    tools: z
      .enum(["auto", "yes", "no"])
      .default("auto")
      .describe("Whether the server has tools, by `list_tools` and `call_tool`; `auto`: as its /schema states"),
    action_field: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Field of an action that takes the text of the policy; default: its only field, or its only required one",
      ),
    observation_field: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Field of an observation that the policy reads; default: its only field if that is a text, else all of them as JSON",
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

export type OpenEnvOptions = z.output<typeof openEnvOptions>;
