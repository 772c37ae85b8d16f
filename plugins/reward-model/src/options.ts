import { modelClientOptions } from "@mrlm/model-client";
import { z } from "zod";

/** Options of the plugin. */
export const rewardModelOptions = z
  .strictObject({
    /** Directory of a run, of a checkpoint or of a model with a value head. The engine of the process that scores loads it. */
    model: z.string().min(1).optional(),
    /** Endpoint of chat completions whose answer is `reward:SCORE`, as `mrlm serve --model RUN` has it. */
    endpoint: modelClientOptions.optional(),
    /** Score of a conversation with several turns: that of its last turn, or the smallest, for models that are learnt from judged steps. */
    steps: z.enum(["last", "min"]).default("last"),
    /** `raw`: the score, which has no bounds. `sigmoid`: from 0 to 1. */
    scale: z.enum(["raw", "sigmoid"]).default("raw"),
  })
  .superRefine(({ model, endpoint }, context) => {
    if ((model === undefined) === (endpoint === undefined))
      context.addIssue({ code: "custom", path: ["model"], message: "give either `model` or `endpoint`" });
  });

export type RewardModelOptions = z.output<typeof rewardModelOptions>;
