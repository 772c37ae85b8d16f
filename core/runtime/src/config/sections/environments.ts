import { z } from "zod";
import { ENDPOINT_URL, isEndpointUrl } from "../endpoint-url.ts";
import { pluginOptions } from "./json-schema.ts";

/** Player of a role. `policyProblems` checks which keys stand together. */
const player = z.union([
  z.string().min(1),
  z.strictObject({
    policy: z.string().min(1).optional().describe("Name of a trained model, as in `policies`"),
    past: z
      .strictObject({
        every: z.int().positive().default(20).describe("Weight versions from one kept copy to the next"),
        keep: z.int().positive().default(8).describe("Number of copies; a new one replaces the oldest"),
        newest: z
          .number()
          .min(0)
          .max(1)
          .default(0.5)
          .describe(
            "Share of groups that meet the newest copy; the others meet any of them. 0: all alike; 1: always the newest",
          ),
      })
      .optional()
      .describe("Earlier versions of `policy` play, as copies that are not trained"),
    model: z
      .string()
      .min(1)
      .optional()
      .describe(
        "A frozen model: a Hugging Face directory, a run or one of its checkpoints, relative to the config; with `endpoint`: the name of a model there",
      ),
    endpoint: z
      .string()
      .refine(isEndpointUrl, { error: ENDPOINT_URL })
      .optional()
      .describe("URL of an OpenAI-compatible API, mostly with /v1 at its end; `model` names the model"),
    api_key_env: z
      .string()
      // The message does not quote the value, which may be a key.
      .refine((name) => /^[A-Z_][A-Z0-9_]*$/.test(name), {
        error: "must be the name of an environment variable in capitals, not the key itself",
      })
      .optional()
      .describe("Environment variable that holds the key of `endpoint`"),
    scripted: z
      .string()
      .min(1)
      .optional()
      .describe("A scripted policy of the environment, by its name; or a policy of a plugin, `NAME@N`"),
    options: pluginOptions.optional().describe("Options of the scripted policy, or of the policy that asks `endpoint`"),
  }),
]);

/** Entry of `environments`. */
export const environmentSection = z.strictObject({
  id: z.string().min(1).describe("`math@2`, or `math` for the newest version installed"),
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
  reward_sharing: z
    .record(z.string().min(1), z.record(z.string().min(1), z.number()))
    .optional()
    .describe(
      "Rewards that roles learn from: for a role the weights of the roles' totals. Default: each role learns from its own total",
    ),
});

/** Entry of `eval.environments`. An evaluation measures the totals of the environment. */
export const evaluationEnvironmentSection = environmentSection.omit({ weight: true, reward_sharing: true });
