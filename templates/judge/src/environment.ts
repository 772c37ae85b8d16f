import { generatedTasks, singleTurn, textMessage, unscored } from "@mrlm/kit";

const NAME = "my-judge@1";
const LETTERS = [..."abcdefgh"];
const AGENT = "agent";

/** Letters that are missing. `singleTurn` makes an environment of one question and one answer. */
export const environment = singleTurn({
  id: NAME,
  description: "Write the letters from a to h that are missing, in any order.",
  rewardComponents: ["correct"],
  requires: [`judge:${NAME}`],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 500, share: 4 }, eval: { size: 40, share: 1 } },
      generate(random) {
        const isShown = new Set(LETTERS.filter(() => random.next() < 0.5));
        const shown = LETTERS.filter((letter) => isShown.has(letter)).join("");
        const missing = LETTERS.filter((letter) => !isShown.has(letter)).join("");
        // If no letter is missing there is nothing to write.
        if (missing === "") return { public: { shown: "" }, private: { wanted: shown }, key: "" };
        return { public: { shown }, private: { wanted: missing }, key: shown };
      },
    }),
  prompt: ({ shown }) => `${shown}>`,
  // The response that SFT learns from.
  answer: ({ private: { wanted } }) => wanted,
  async score(text, task, { context, signal }) {
    const turns = [{ agent: AGENT, message: textMessage("assistant", text) }];
    const { rewards } = await context.judge(NAME).judge({ turns, agents: [AGENT], task }, { signal });
    return rewards[AGENT] ?? unscored("SCORER_FAILED", "The judge returned no reward.");
  },
  fixtures: [
    { name: "the missing letters", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.wanted, reward: 1 },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "all letters", kind: "cheat", task: "train/1", policy: () => LETTERS.join(""), reward: 0 },
    { name: "digits", kind: "malformed", task: "train/2", policy: () => "123", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 3, policy: () => "abc" },
  ],
});
