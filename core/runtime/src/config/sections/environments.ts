import type { PlayerRef } from "@mrlm/spec/host";
import type { PolicyId } from "@mrlm/spec";
import { z } from "zod";
import { ENDPOINT_URL, isEndpointUrl } from "../endpoint-url.ts";
import { modelPath, pluginOptions, type RelativePath, textOr } from "./values.ts";

/** Name of the policy that the key `model` of a configuration stands for. */
export const DEFAULT_POLICY: PolicyId = "policy";

/** Keys of the player of a role. `policyProblems` checks which of them stand together. */
const playerKeys = z.strictObject({
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
      "A frozen model: a Hugging Face directory, a run, one of its checkpoints or a GGUF file, relative to the config, or `hub:ORG/NAME`; with `endpoint`: the name of a model there",
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
  options: pluginOptions.default({}).describe("Options of the scripted policy, or of the policy that asks `endpoint`"),
});

/** Player of a role: the name of a policy alone, or an object. */
const player = textOr(playerKeys, z.string().min(1), (policy) => ({ policy })).transform(
  ({
    policy = DEFAULT_POLICY,
    past,
    model,
    endpoint,
    api_key_env,
    scripted,
    options,
  }): PlayerRef | { readonly model: RelativePath | string } => {
    if (endpoint !== undefined) return { endpoint, model: model as string, api_key_env, options };
    if (model !== undefined) return { model: modelPath(model) };
    return scripted === undefined ? { policy, past } : { scripted, options };
  },
);

/** `watch` of an environment: a second judgement of its rewards. */
const watchKeys = z
  .strictObject({
    scorer: z.string().min(1).optional().describe("Scorer in place of those that the environment requires: `math@2`"),
    judge: z.string().min(1).optional().describe("Judge in place of those that the environment requires: `llm@2`"),
    options: pluginOptions
      .default({})
      .describe("Options of each request, over those of the environment: a stricter form, another rubric"),
    share: z.number().gt(0).max(1).default(0.25).describe("Share of the episodes of a batch that are scored again"),
  })
  .refine(({ scorer, judge }) => (scorer === undefined) !== (judge === undefined), {
    error: "needs either `scorer` or `judge`",
  });

const environmentKeys = z.strictObject({
  id: z.string().min(1).describe("`math@2`, or `math` for the newest version installed"),
  options: pluginOptions.default({}).describe("Options of the environment"),
  weight: z.number().positive().default(1).describe("Share of the training tasks, relative to the other environments"),
  max_turns: z.int().positive().optional().describe("Turn limit of an episode, beside the environment's own"),
  players: z
    .record(z.string().min(1), player)
    .optional()
    .describe("Player of each role, by the role's name; a text names a policy. Default: the policy plays every role"),
  sides: z
    .enum(["fixed", "shuffle"])
    .optional()
    .describe("`shuffle`: the players are assigned to the roles at random, anew in each group")
    .meta({ default: "fixed" }),
  reward_sharing: z
    .record(z.string().min(1), z.record(z.string().min(1), z.number()))
    .optional()
    .describe(
      "Rewards that roles learn from: for a role the weights of the roles' totals. Default: each role learns from its own total",
    ),
  watch: watchKeys
    .optional()
    .describe(
      "Scores a share of the training episodes again beside learning, for metrics and findings; never a reward",
    ),
});

/** Sets `sides` only where there are players to assign. */
function withSides<E extends Pick<z.output<typeof environmentKeys>, "players" | "sides">>(environment: E): E {
  const { players, sides = "fixed" } = environment;
  return { ...environment, sides: players && sides };
}

/** Entry of `environments`. */
export const environmentSection = environmentKeys.transform(withSides);

/** Entry of `eval.environments`. An evaluation measures the totals of the environment. */
export const evaluationEnvironmentSection = environmentKeys
  .omit({ weight: true, reward_sharing: true, watch: true })
  .transform(withSides);
