// Types of scorers, judges, tools, policies, algorithms and examples. `tsc --build` compiles this file; nothing runs it.
import type { AlgorithmDefinition, AlgorithmRun, PluginExamples, PolicySource, Scorer } from "@mrlm/spec";
import { score, unscored } from "@mrlm/spec";
import { z } from "zod";

declare const run: AlgorithmRun;

({
  score: async ({ answer, expected }) => ({
    reward: expected === "" ? unscored("SCORER_REFERENCE_INVALID", "no answer") : score(Number(answer === expected)),
    verdict: "compared",
    reason: "Compared.",
  }),
}) satisfies Scorer;

({
  // @ts-expect-error a grade has a reward, not a number
  score: async () => ({ reward: 1, verdict: "compared", reason: "Compared." }),
}) satisfies Scorer;

const options = z.strictObject({ noise: z.number().default(0) });

({
  options,
  open: ({ agent }, { noise }) => ({
    act: async () => {
      noise satisfies number;
      return { agent, message: { role: "assistant", parts: [] }, finishReason: "stop" };
    },
  }),
}) satisfies PolicySource<z.output<typeof options>>;

({
  options,
  // @ts-expect-error the schema has no such option
  open: ({ agent }, { noises }) => ({
    act: async () => ({ agent, message: { role: "assistant", parts: [noises] }, finishReason: "stop" }),
  }),
}) satisfies PolicySource<z.output<typeof options>>;

({
  id: "reinforce@1",
  description: "REINFORCE.",
  options: z.strictObject({ steps: z.int() }),
  iterations: ({ steps }) => steps,
  create(context, { steps }) {
    steps satisfies number;
    // @ts-expect-error an algorithm reads no tasks: episodes come from `context.episodes`
    void context.tasks;
    return run;
  },
}) satisfies AlgorithmDefinition<{ steps: number }>;

({
  scorers: { "number@1": [{ request: { expected: "12" }, right: ["12"], wrong: ["13"] }] },
  judges: {
    // @ts-expect-error a judge needs an example at least
    "letters@1": [],
  },
  tools: {
    // @ts-expect-error a toolset needs calls
    "notes@1": { files: {} },
  },
}) satisfies PluginExamples;
