import { generatedTasks, singleTurn } from "@mrlm/kit";

const NAME = "my-scorer@1";

/** Sums whose answers the scorer grades. `singleTurn` makes an environment of one question and one answer. */
export const environment = singleTurn({
  id: NAME,
  description: "Write the number that follows a number.",
  rewardComponents: ["correct"],
  requires: [`scorer:${NAME}`],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 500, share: 9 }, eval: { size: 50, share: 1 } },
      generate(random) {
        const number = random.integer(100, 998);
        return { public: { number }, private: { answer: String(number + 1) }, key: String(number) };
      },
    }),
  prompt: ({ number }) => `${number}+1=`,
  // The response that SFT learns from.
  answer: ({ private: { answer } }) => answer,
  async score(text, { private: { answer } }, { context, signal }) {
    const { reward } = await context.scorer(NAME).score({ answer: text, expected: answer, signal });
    return reward;
  },
  fixtures: [
    { name: "the answer", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.answer, reward: 1 },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    {
      name: "the number itself",
      kind: "cheat",
      task: "train/1",
      policy: ({ task }) => String(task.public.number),
      reward: 0,
    },
    { name: "words", kind: "malformed", task: "train/2", policy: () => "one more", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 3, policy: () => "7" },
  ],
});
