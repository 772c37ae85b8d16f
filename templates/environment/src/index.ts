import {
  anyTask,
  defineEnvironment,
  definePlugin,
  generatedTasks,
  messageText,
  observe,
  score,
  singleStep,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { z } from "zod";

const LETTERS = [..."abcdefgh"];

/** Returns the word with each letter replaced by the next one of the alphabet. After the last letter comes the first. */
function shift(word: string): string {
  return [...word].map((letter) => LETTERS[(LETTERS.indexOf(letter) + 1) % LETTERS.length]).join("");
}

/** Options that a configuration may give. The schema validates them, and their types reach every function below. */
const options = z.strictObject({
  length: z.int().min(3).max(8).default(3).describe("Letters of a word"),
  attempts: z.int().min(1).max(5).default(1).describe("Answers that an episode allows"),
});

export const environment = defineEnvironment({
  // The number after @ is the version of the behaviour: raise it when a change can move the results of a training.
  id: "my-environment@1",
  description: "Replace each letter of a word by the next one of the alphabet.",
  // The same task, seed and actions give the same episode, byte for byte.
  determinism: "full",
  options,
  // Names of the parts of a reward that reports show beside its value. The value here is always between 0 and 1.
  rewardComponents: ["correct"],
  rewardRange: [0, 1],

  // Tasks: `public` may be shown to the policy, `private` never leaves the process that hosts the environment.
  tasks: (_context, { length }) =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 9 }, eval: { size: 40, share: 1 } },
      generate(random) {
        const word = Array.from({ length }, () => random.pick(LETTERS)).join("");
        return { public: { word }, private: { answer: shift(word) }, key: word };
      },
    }),

  // One instance serves one session: many episodes, one after the other. Its variables belong to that session alone.
  create(context, { attempts }) {
    let answer = "";
    let wrong = 0;
    return {
      // Starts an episode: the first observation is all that the policy knows of its task.
      async reset({ task, seed = 0 }) {
        const { public: shown, private: hidden } = await taskById(context.tasks, task ?? anyTask(context, seed));
        answer = hidden.answer;
        wrong = 0;
        return observe([textMessage("user", `${shown.word}>`)]);
      },
      // Receives one response of the policy, and returns its reward and the next messages.
      async step({ message }) {
        if (messageText(message).trim() === answer)
          return singleStep({ reward: score(wrong === 0 ? 1 : 0.5, { correct: 1 }), terminated: true });
        wrong++;
        const terminated = wrong === attempts;
        const messages = terminated ? [] : [textMessage("user", "No.")];
        return singleStep({ messages, reward: score(0, { correct: 0 }), terminated });
      },
    };
  },

  // Worked solutions of training tasks, which SFT learns from.
  async demonstrate({ tasks }, _options, id) {
    const { public: shown, private: hidden } = await taskById(tasks, id);
    const messages = [textMessage("user", `${shown.word}>`), textMessage("assistant", hidden.answer)];
    return { task: id, agent: "agent", messages };
  },

  // Episodes whose outcome is known. `npm test` and `npm run check` play them.
  fixtures: [
    { name: "the answer", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.answer, reward: 1 },
    {
      name: "the answer at the second attempt",
      kind: "gold",
      options: { attempts: 2 },
      task: "train/0",
      policy: ({ task, turn }) => (turn === 0 ? "?" : task.private.answer),
      reward: 0.5,
    },
    { name: "no answer", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
    { name: "the word itself", kind: "cheat", task: "train/2", policy: ({ task }) => task.public.word, reward: 0 },
    { name: "no word", kind: "malformed", task: "train/3", policy: () => "1 + 1", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => String(turn) },
  ],
});

export default definePlugin({ name: "mrlm-my-environment", environments: [environment] });
