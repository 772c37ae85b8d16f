import {
  callTools,
  defineEnvironment,
  definePlugin,
  type Fixture,
  listedTasks,
  messageText,
  observe,
  score,
  singleStep,
  taskById,
  textMessage,
  type Tool,
  toolCalls,
} from "@mrlm/kit";

const add: Tool = {
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  call: async ({ a, b }) => ({ content: [{ type: "text", text: String(Number(a) + Number(b)) }], isError: false }),
};

/** Sum of two numbers, with a tool. The first message without a call is the answer. */
const sums = defineEnvironment({
  id: "sums@1",
  description: "Sums of two numbers, with a tool.",
  determinism: "full",
  maxTurns: 8,
  tasks: () =>
    listedTasks(
      {
        train: Array.from({ length: 40 }, (_, i) => i),
        eval: Array.from({ length: 10 }, (_, i) => 1_000 + i),
      },
      (n) => ({ public: { n }, private: { answer: String(2 * n + 1) } }),
    ),
  create: (context) => {
    let answer = "";
    return {
      async reset({ task = "train/0", seed = 0 }) {
        const { public: shown, private: hidden } = await taskById(context.tasks, task);
        answer = hidden.answer;
        return observe(
          [textMessage("system", `Round ${seed % 7}.`), textMessage("user", `What is ${shown.n} + ${shown.n + 1}?`)],
          { tools: [{ name: add.name, description: add.description, parameters: add.parameters }] },
        );
      },
      async step({ message }, options) {
        if (toolCalls(message).length > 0)
          return singleStep({ messages: await callTools([add], message, options), reward: score(0) });
        return singleStep({ reward: score(messageText(message) === answer ? 1 : 0), terminated: true });
      },
    };
  },
});

/** Guess of a number up to 7, without tools: up to four tries, half of the reward for a late one. */
const guess = defineEnvironment({
  id: "guess@1",
  description: "A number to guess.",
  determinism: "none",
  create: () => {
    let tries = 0;
    return {
      async reset() {
        tries = 0;
        return observe([textMessage("user", "Guess a number up to 7.")]);
      },
      async step({ message, finishReason }) {
        tries++;
        const given = messageText(message);
        if (given === "3") return singleStep({ reward: score(tries === 1 ? 1 : 0.5), terminated: true });
        if (tries === 4) return singleStep({ reward: score(0), truncated: true });
        const text = finishReason === "length" ? "Too long." : `${given} is wrong.`;
        return singleStep({ messages: [textMessage("user", text)], reward: score(0) });
      },
    };
  },
});

export const sumsPlugin = definePlugin({ name: "sums", environments: [sums, guess] });

/** Returns the answer of the question of `sums@1` in a text. */
export function sumOf(text: string): string {
  const [, a, b] = /What is (\d+) \+ (\d+)/.exec(text) ?? [];
  return String(Number(a) + Number(b));
}

const question: Fixture["policy"] = ({ messages }) => sumOf(messages.map(messageText).join("\n"));

/** Episodes of `sums@1`, which are the same through a bridge. */
export const fixtures: readonly Fixture[] = [
  { name: "the sum", kind: "gold", task: "train/3", policy: question, reward: 1 },
  {
    name: "the tool, then the sum",
    kind: "gold",
    task: "eval/3",
    policy: (request) =>
      request.turn > 0
        ? question(request)
        : { role: "assistant", parts: [{ type: "tool-call", id: "1", name: "add", arguments: { a: 1, b: 2 } }] },
    reward: 1,
  },
  { name: "no answer", kind: "nop", task: "train/3", policy: () => "", reward: 0 },
  {
    name: "the question",
    kind: "cheat",
    task: "train/3",
    policy: ({ messages }) => messageText(messages.at(-1) as never),
    reward: 0,
  },
  { name: "words", kind: "malformed", task: "train/3", policy: () => "seven", reward: 0 },
  { name: "twice", kind: "determinism", task: "train/5", seed: 4, policy: () => "11" },
];
