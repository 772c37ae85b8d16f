import { setTimeout as sleep } from "node:timers/promises";
import { defineEnvironment, listedTasks, observe, textMessage } from "@mrlm/kit";
import { type Part, score, type SimulatedEnvironment, unscored } from "@mrlm/spec";

/** Answers each action with the outcome that its text names: `end`, `fail`, `unscored`, `wait`; any other text is repeated, with reward 1. */
export const outcomes = defineEnvironment({
  id: "outcomes@1",
  description: "Has the outcome that an action names.",
  determinism: "none",
  roles: { agent: {} },
  rewardRange: [0, 1],
  tasks: () => listedTasks({ train: [0, 1], eval: [2] }, (number) => ({ public: { number }, private: {} })),
  create: (): SimulatedEnvironment => ({
    async reset({ task = "train/0" }) {
      return observe([textMessage("user", `Name an outcome of ${task}.`)]);
    },
    async step({ message }, { signal }) {
      const text = message.parts.map(textOf).join("");
      if (text === "wait") await sleep(600_000, undefined, { signal });
      if (text === "fail") throw new Error("the action named this outcome");
      const hasEnded = text === "end";
      return {
        observation: hasEnded ? { agent: "", messages: [] } : observe([textMessage("user", text)]),
        rewards: { agent: text === "unscored" ? unscored("JUDGE_FAILED", "the judge did not answer") : score(1) },
        terminated: { agent: hasEnded },
        truncated: { agent: false },
      };
    },
  }),
  fixtures: [],
});

function textOf(part: Part): string {
  return part.type === "text" ? part.text : part.type === "tool-call" ? JSON.stringify(part.arguments) : "";
}
