import { z } from "zod";

const PIN = /^[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?==[\w.!+-]+$/;
const count = (max: number) => z.int().min(1).max(max);

/** Options of `python-env@1` in a configuration file. */
export const pythonOptions = z
  .strictObject({
    kind: z
      .enum(["gymnasium", "pettingzoo", "reasoning_gym"])
      .describe("Interface of the environment: that of gymnasium, of PettingZoo, or of a task set of reasoning-gym"),
    name: z
      .string()
      .min(1)
      .describe(
        "Environment of the library: CartPole-v1, pettingzoo.classic.tictactoe_v3, chain_sum. Or a factory: package.module:factory, FILE.py:factory",
      ),
    kwargs: z.record(z.string(), z.json()).default({}).describe("Keyword arguments with which it is made"),
    requirements: z
      .array(z.string().regex(PIN, "must be pinned: NAME==VERSION"))
      .optional()
      .describe("Packages of its Python; default: the tested version of the library, and none for FILE.py"),
    python: z
      .string()
      .min(1)
      .optional()
      .describe("Interpreter that has all packages, in place of `requirements`: nothing is installed"),
    processes: count(64)
      .default(2)
      .describe("Python processes, among which the episodes of a process of mrlm are divided"),
    seeds: z
      .strictObject({
        train: count(2 ** 30)
          .default(100_000)
          .describe("Number of training tasks"),
        eval: count(2 ** 30)
          .default(1_000)
          .describe("Number of evaluation tasks; other seeds than those of training"),
      })
      .prefault({}),
    task_seed: z
      .int()
      .min(0)
      .max(2 ** 30)
      .default(0)
      .describe("First seed: another one gives other tasks"),
    determinism: z
      .enum(["full", "none"])
      .default("full")
      .describe("none: for an environment that does not repeat an episode from its seed"),
    reward_range: z
      .tuple([z.number(), z.number()])
      .refine(([least, largest]) => least <= largest, "the least reward comes first")
      .optional()
      .describe(
        "Least and largest reward of an episode; [0, 1] for reasoning_gym. An action that cannot be read ends the episode with the least",
      ),
    agents: z
      .array(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/))
      .min(1)
      .optional()
      .describe("Agents of a game of PettingZoo, which are the roles: player_1, player_2"),
    prompt: z.string().min(1).optional().describe("Text before the first observation, for example the rules"),
    max_turns: count(10_000).default(64).describe("Turns of all agents after which an episode is truncated"),
    step_seconds: z
      .number()
      .positive()
      .max(600)
      .default(60)
      .describe("Longest call of an environment. After it its process is killed, and episodes in it are unscored"),
    answer_tag: z
      .string()
      .regex(/^([A-Za-z][\w-]{0,39})?$/, "must be the name of a tag, or empty")
      .default("answer")
      .describe("reasoning_gym: tag around the answer in a reply; empty: the whole reply"),
    partial_credit: z
      .boolean()
      .default(false)
      .describe(
        "reasoning_gym: the score of its checker is the reward, also below 1. Default: 1 for a full score, else 0",
      ),
  })
  .superRefine(({ kind, agents, python, requirements, reward_range: range }, context) => {
    const issue = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    if ((kind === "pettingzoo") !== (agents !== undefined))
      issue("agents", kind === "pettingzoo" ? "names the agents of the game" : "is for the kind pettingzoo");
    if (kind !== "reasoning_gym" && range === undefined)
      issue("reward_range", "states the least and the largest reward of an episode of this environment");
    if (python !== undefined && requirements !== undefined) issue("python", "takes the place of `requirements`");
  });

export type PythonOptions = z.output<typeof pythonOptions>;

/** Tested versions of the libraries. */
export const TESTED: Readonly<Record<PythonOptions["kind"], readonly string[]>> = {
  gymnasium: ["gymnasium==1.4.0"],
  pettingzoo: ["pettingzoo[classic]==1.27.0"],
  reasoning_gym: ["reasoning-gym==0.1.25"],
};
