import { z } from "zod";

const MINUTE_MS = 60_000;
const name = z.string().min(1).max(256);
const limit = (max: number, fallback: number, text: string) => z.int().min(1).max(max).default(fallback).describe(text);

export const bridgeOptions = {
  url: z
    .string()
    .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, {
      error: "is an http or https URL without user, query and fragment",
    })
    .describe("Address of the running server, for example http://127.0.0.1:8000"),
  token_env: name
    .optional()
    .describe("Name of the environment variable that holds the token of the server; never the token itself"),
  environment: name
    .optional()
    .describe("Name of the environment on the server; default: the first one that the server lists"),
  determinism: z
    .enum(["none", "full"])
    .default("none")
    .describe("Guarantee of the server about repeated episodes. Only with `full` it gets the seeds of episodes"),
  splits: z
    .strictObject({
      train: name.optional().describe("Split of the server for training; default: its split of the type train"),
      eval: name
        .optional()
        .describe(
          "Split of the server for evaluation; default: its split `eval`, else of the type test, else validation",
        ),
    })
    .prefault({}),
  seeds: z
    .strictObject({
      train: z
        .int()
        .min(0)
        .max(2 ** 31)
        .default(1_000_000)
        .describe("Number of training tasks"),
      eval: z
        .int()
        .min(0)
        .max(2 ** 31)
        .default(1_000)
        .describe("Number of evaluation tasks; their seeds follow"),
    })
    .prefault({})
    .describe("Tasks of a server without a catalogue: each is a seed of its reset"),
  rewards: z
    .enum(["sum", "last"])
    .default("sum")
    .describe("Reward of an episode: the sum of those that the server sends, or the last one"),
  reward_range: z
    .tuple([z.number(), z.number()])
    .optional()
    .describe("Smallest and largest reward of an episode, for checks; default: not known"),
  max_turns: limit(10_000, 64, "Turns after which the bridge ends an episode"),
  cut_reward: z
    .number()
    .optional()
    .describe("Reward of an episode that the bridge ends before the server sent any; default: unscored"),
  prompt: z.string().optional().describe("Text before the first observation, for example the rules"),
  max_sessions: limit(65_536, 1_024, "Sessions of this process on the server at the same time; others wait in order"),
  timeouts: z
    .strictObject({
      reset_ms: limit(10 * MINUTE_MS, MINUTE_MS, "Longest start of an episode, with repeated connections"),
      step_ms: limit(10 * MINUTE_MS, MINUTE_MS, "Longest step"),
      wait_ms: limit(60 * MINUTE_MS, 5 * MINUTE_MS, "Longest wait for a free session of a full server"),
    })
    .prefault({}),
};

/** Options that all bridges have, as the schema returns them. */
export type BridgeOptions = z.output<z.ZodObject<typeof bridgeOptions>>;

/** Returns the token of the options; `undefined` for a server without one, or where the variable is not set. */
export function tokenOf({ token_env: variable }: Pick<BridgeOptions, "token_env">): string | undefined {
  const token = variable === undefined ? "" : (process.env[variable] ?? "").trim();
  return token === "" ? undefined : token;
}
