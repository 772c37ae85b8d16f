import { callMessage, definePlugin, generatedTasks, toolEnvironment } from "@mrlm/kit";
import { environmentContract, inProcess } from "@mrlm/testing";
import { tool } from "ai";
import { ExactMatch } from "autoevals";
import { z } from "zod";
import { fromAiTools, fromScorer } from "../src/index.ts";

const add = tool({
  description: "Adds two numbers.",
  inputSchema: z.object({ a: z.number().describe("The first number."), b: z.number().describe("The second number.") }),
  execute: ({ a, b }) => a + b,
});
const exact = fromScorer(ExactMatch);

const sums = toolEnvironment({
  id: "sums@1",
  description: "Sums of two numbers.",
  maxTurns: 3,
  rewardComponents: ["ExactMatch"],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 200, share: 9 }, eval: { size: 20, share: 1 } },
      generate(random) {
        const [a, b] = [random.integer(1_000, 9_999), random.integer(1_000, 9_999)];
        return { public: { a, b }, private: { answer: String(a + b) }, key: `${a}+${b}` };
      },
    }),
  prompt: ({ a, b }) => `${a} + ${b}`,
  tools: await fromAiTools({ add }),
  async score(answer, { private: { answer: expected } }, { signal }) {
    return (await exact.score({ answer, expected, signal })).reward;
  },
  solve: ({ public: { a, b }, private: { answer } }) => [callMessage("add", { a, b }), answer],
  fixtures: [
    {
      name: "adds, then answers",
      kind: "gold",
      task: "eval/0",
      policy: ({ task, turn }) =>
        turn === 0 ? callMessage("add", { a: task.public.a, b: task.public.b }) : task.private.answer,
      reward: 1,
    },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "a number", kind: "cheat", task: "train/1", policy: ({ task }) => String(task.public.a), reward: 0 },
    {
      name: "arguments of another type",
      kind: "malformed",
      task: "train/2",
      policy: ({ turn }) => (turn === 0 ? callMessage("add", { a: "one" }) : "none"),
      reward: 0,
    },
    {
      name: "twice the same",
      kind: "determinism",
      seed: 3,
      policy: ({ turn }) => (turn === 0 ? callMessage("add") : "?"),
    },
  ],
});

environmentContract({
  plugins: [definePlugin({ name: "sums", environments: [sums] })],
  environment: "sums@1",
  transports: { "in process": inProcess },
});
