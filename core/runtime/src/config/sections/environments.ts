import { z } from "zod";
import { pluginOptions } from "./json-schema.ts";
import { withoutEffect } from "./without-effect.ts";

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

const FROM_JSON = z.json();

/** One of `eval_envs`, the seed system's form of `environments`. */
export const seedEnvironmentSection = z.strictObject({
  env_type: z.string().min(1).describe("The seed system's name of `id`"),
  mode: z
    .enum(["client", "server"])
    .optional()
    .describe("`client`: acted in; `server`, the policy itself, is refused here"),
  max_turns: z.int().positive().optional(),
  dataset: FROM_JSON.optional().describe(
    "This and the next keys become options of the environment where it has such options",
  ),
  problems: FROM_JSON.optional(),
  difficulty_range: FROM_JSON.optional(),
  max_attempts: FROM_JSON.optional(),
  custom_kwargs: pluginOptions.optional(),
  custom_class: withoutEffect("environments come from plugins, by their ids"),
  remote: withoutEffect("`server.address` names a server"),
  server_address: withoutEffect("`server.address` names a server"),
  timeout: withoutEffect("deadlines belong to the environment"),
  reward_scale: withoutEffect("rewards are trained on as the environment gives them"),
  reward_clip: withoutEffect("rewards are trained on as the environment gives them"),
  reward_bias: withoutEffect("rewards are trained on as the environment gives them"),
});
