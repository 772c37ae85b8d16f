import { modelClientOptions } from "@mrlm/model-client";
import { z } from "zod";

/** Options of a player: those of the model client, and the sampling of its turns. */
export const endpointOptions = modelClientOptions
  .safeExtend({
    /** Default: the temperature of the run. `null`: none is sent, for models that accept none. */
    temperature: z.number().nonnegative().nullable().optional(),
    /** Default: `top_p` of the run. */
    top_p: z.number().positive().max(1).nullable().optional(),
    /** Tokens of one turn, with its reasoning. Default: `max_tokens` of the run. */
    max_tokens: z.int().positive().optional(),
    /** Whether each request has a seed, which follows from the run's seed, the episode, the agent and the turn. */
    seed: z.boolean().default(false),
    /** Outcome of an answer without text and calls: the episode fails, or the empty message is the turn. */
    on_empty: z.enum(["fail", "answer"]).default("fail"),
    /** Longest turn with all attempts, without its wait for a place. */
    deadline_ms: z.int().positive().max(86_400_000).default(600_000),
  })
  .superRefine(({ api_key_env: name, cache }, context) => {
    // Without requests no key is needed. What is no name may be a key, which no message quotes.
    if (name === undefined || cache?.mode === "replay-or-fail" || !/^[A-Z_][A-Z0-9_]*$/.test(name)) return;
    if ((process.env[name] ?? "").trim() !== "") return;
    context.addIssue({
      code: "custom",
      path: ["api_key_env"],
      message: `the environment variable ${name}, which holds the API key, is not set`,
    });
  });

export type EndpointOptions = z.output<typeof endpointOptions>;
