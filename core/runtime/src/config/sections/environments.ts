import { z } from "zod";
import { pluginOptions } from "./json-schema.ts";

/** Player of a role. `policyProblems` checks that an object has exactly one of `policy`, `model` and `scripted`. */
const player = z.union([
  z.string().min(1),
  z.strictObject({
    policy: z.string().min(1).optional().describe("Name of a trained model, as in `policies`"),
    model: z
      .string()
      .min(1)
      .optional()
      .describe("A frozen model: a Hugging Face directory, a run or one of its checkpoints, relative to the config"),
    scripted: z
      .string()
      .min(1)
      .optional()
      .describe("A scripted policy of the environment, by its name; or a policy of a plugin, `NAME@N`"),
    options: pluginOptions.optional().describe("Options of the scripted policy"),
  }),
]);

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
  players: z
    .record(z.string().min(1), player)
    .optional()
    .describe("Player of each role, by the role's name; a text names a policy. Default: the policy plays every role"),
  sides: z
    .enum(["fixed", "shuffle"])
    .optional()
    .describe("`shuffle`: the players are assigned to the roles at random, anew in each group; default `fixed`"),
});

/** Entry of `eval.environments`. */
export const evaluationEnvironmentSection = environmentSection.omit({ weight: true });
