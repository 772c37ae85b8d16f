import { definePlugin, generatedTasks, singleTurn } from "@mrlm/kit";

const LETTERS = [..."abcdefgh"];

/** Returns the word with each letter replaced by the next one of the alphabet. After the last letter comes the first. */
function shift(word: string): string {
  return [...word].map((letter) => LETTERS[(LETTERS.indexOf(letter) + 1) % LETTERS.length]).join("");
}

export const environment = singleTurn({
  // The number after @ is the version of the behaviour: raise it when a change can move the results of a training.
  id: "my-environment@1",
  description: "Replace each letter of a word by the next one of the alphabet.",
  // `public` may be shown to the policy, `private` never leaves the process that hosts the environment. Equal keys are in one split.
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 9 }, eval: { size: 40, share: 1 } },
      generate(random) {
        const word = Array.from({ length: 3 }, () => random.pick(LETTERS)).join("");
        return { public: { word }, private: { answer: shift(word) }, key: word };
      },
    }),
  prompt: ({ word }) => `${word}>`,
  // The response that SFT learns from.
  answer: ({ private: { answer } }) => answer,
  score: (response, { private: { answer } }) => Number(response.trim() === answer),
  // Episodes whose outcome is known. `npm test` and `npm run check` play them.
  fixtures: [
    { name: "the answer", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.answer, reward: 1 },
    { name: "no answer", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
    { name: "the word itself", kind: "cheat", task: "train/2", policy: ({ task }) => task.public.word, reward: 0 },
    { name: "no word", kind: "malformed", task: "train/3", policy: () => "1 + 1", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 5, policy: () => "abc" },
  ],
});

export default definePlugin({ name: "mrlm-my-environment", environments: [environment] });
