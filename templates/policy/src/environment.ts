import { anyTask, defineEnvironment, generatedTasks, messageText, taskById, textMessage } from "@mrlm/kit";
import { score, type StepResult } from "@mrlm/spec";

const LETTERS = [..."abcdefgh"];

/** Returns the word with each letter replaced by the next one of the alphabet. */
function shift(word: string): string {
  return [...word].map((letter) => LETTERS[(LETTERS.indexOf(letter) + 1) % LETTERS.length]).join("");
}

/** A sender reads a word and writes a message; a receiver reads the message alone, and answers. Both earn the same reward. */
export const environment = defineEnvironment({
  id: "my-policy@1",
  description: "A sender passes a word on, and a receiver replaces each letter by the next one.",
  determinism: "full",
  rewardComponents: ["correct"],
  roles: { sender: { description: "Passes the word on." }, receiver: { description: "Answers." } },
  maxTurns: 2,
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 9 }, eval: { size: 40, share: 1 } },
      generate(random) {
        const word = Array.from({ length: 3 }, () => random.pick(LETTERS)).join("");
        return { public: { word }, private: { answer: shift(word) }, key: word };
      },
    }),

  create(context) {
    let answer = "";
    return {
      async reset({ task, seed = 0 }) {
        const { public: shown, private: hidden } = await taskById(context.tasks, task ?? anyTask(context, seed));
        answer = hidden.answer;
        return { agent: "sender", messages: [textMessage("user", shown.word)] };
      },
      async step({ agent, message, finishReason }): Promise<StepResult> {
        const text = messageText(message);
        // An agent whose context is full cannot act: the episode ends.
        if (agent === "sender" && finishReason !== "exhausted") {
          const observation = { agent: "receiver", messages: [textMessage("user", `${text}>`)] };
          return { observation, rewards: {}, terminated: {}, truncated: {} };
        }
        const correct = Number(agent === "receiver" && text.trim() === answer);
        const reward = score(correct, { correct });
        return {
          observation: { agent: "", messages: [] },
          rewards: { sender: reward, receiver: reward },
          terminated: { sender: true, receiver: true },
          truncated: {},
        };
      },
    };
  },

  // Conversations of the receiver, which SFT learns from.
  async demonstrate({ tasks }, _options, id) {
    const { public: shown, private: hidden } = await taskById(tasks, id);
    const messages = [textMessage("user", `${shown.word}>`), textMessage("assistant", hidden.answer)];
    return { task: id, agent: "receiver", messages };
  },

  fixtures: [
    {
      name: "both are right",
      kind: "gold",
      task: "eval/0",
      policy: ({ role, task }) => (role === "sender" ? task.public.word : task.private.answer),
      reward: 1,
    },
    { name: "no messages", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "the word itself", kind: "cheat", task: "train/1", policy: ({ task }) => task.public.word, reward: 0 },
    { name: "digits", kind: "malformed", task: "train/2", policy: () => "123", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 3, policy: ({ role }) => role },
  ],
});
