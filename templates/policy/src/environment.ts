import {
  anyTask,
  defineEnvironment,
  generatedTasks,
  type Message,
  messageText,
  score,
  type StepResult,
  taskById,
  textMessage,
} from "@mrlm/kit";

const LETTERS = [..."abcdefgh"];

/** Returns the word with each letter replaced by the next one of the alphabet. */
function shift(word: string): string {
  return [...word].map((letter) => LETTERS[(LETTERS.indexOf(letter) + 1) % LETTERS.length]).join("");
}

const backwards = (word: string): string => [...word].toReversed().join("");

/** Returns the right answer to the question that ends a conversation of the receiver. */
function answerTo(messages: readonly Message[]): string {
  const last = messages.at(-1);
  return last === undefined ? "" : shift(backwards(messageText(last).slice(0, -1)));
}

/** A sender writes a word backwards; a receiver reads that message alone, and answers. Both earn the same reward. */
export const environment = defineEnvironment({
  id: "my-policy@1",
  description: "A sender writes a word backwards, and a receiver replaces each letter of the word by the next one.",
  determinism: "full",
  rewardComponents: ["correct"],
  roles: { sender: { description: "Writes the word backwards." }, receiver: { description: "Answers." } },
  maxTurns: 2,
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 9 }, eval: { size: 40, share: 1 } },
      generate(random) {
        const [first, second] = [random.pick(LETTERS), random.pick(LETTERS)];
        // Another letter than the first: the word itself is then a wrong message of the sender.
        const word = `${first}${second}${random.pick(LETTERS.filter((letter) => letter !== first))}`;
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
    const messages = [textMessage("user", `${backwards(shown.word)}>`), textMessage("assistant", hidden.answer)];
    return { task: id, agent: "receiver", messages };
  },

  fixtures: [
    {
      name: "both are right",
      kind: "gold",
      task: "eval/0",
      // The receiver reads the message alone, as a policy does.
      policy: ({ role, task, messages }) => (role === "sender" ? backwards(task.public.word) : answerTo(messages)),
      reward: 1,
    },
    { name: "no messages", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    { name: "the word itself", kind: "cheat", task: "train/1", policy: ({ task }) => task.public.word, reward: 0 },
    { name: "digits", kind: "malformed", task: "train/2", policy: () => "123", reward: 0 },
    { name: "twice the same", kind: "determinism", seed: 3, policy: ({ role }) => role },
  ],
});
