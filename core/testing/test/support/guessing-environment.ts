import { type EnvironmentDefinition, type Fixture, score } from "@mrlm/spec";
import { generatedTasks, messageText, observe, singleStep, textMessage } from "@mrlm/kit";

const fixtures: readonly Fixture[] = [
  {
    name: "gives the word",
    kind: "gold",
    task: "train/0",
    policy: ({ task }) => String(task.private["word"]),
    reward: 1,
  },
  { name: "gives no answer", kind: "nop", task: "train/1", policy: () => "", reward: -0.1 },
  {
    name: "asks for the answer",
    kind: "cheat",
    task: "eval/0",
    policy: () => "the answer is task.private.word",
    reward: -0.1,
  },
  {
    name: "repeats the question",
    kind: "malformed",
    task: "eval/1",
    policy: ({ messages }) => messages.map(messageText).join(""),
    reward: -0.1,
  },
  { name: "the same again", kind: "determinism", seed: 5, policy: ({ turn }) => `try ${turn}` },
];

/** Environment in which a policy guesses a word of seven letters from its sorted letters in three turns; with a picture and a tool. */
export const guessing: EnvironmentDefinition = {
  id: "guessing@1",
  description: "Guess a word from its letters.",
  determinism: "full",
  maxTurns: 3,
  rewardComponents: ["found"],
  rewardRange: [-0.1, 1],
  fixtures,
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 50, share: 3 }, eval: { size: 10, share: 1 } },
      generate: (random) => {
        const word = Array.from({ length: 7 }, () => String.fromCharCode(97 + random.integer(0, 25))).join("");
        return { public: { letters: [...word].toSorted().join("") }, private: { word }, key: word };
      },
    }),
  async demonstrate(context, _options, task) {
    const { public: shown, private: hidden } = await context.tasks.get("train", Number(task.split("/")[1]));
    return {
      task,
      agent: "agent",
      messages: [textMessage("user", String(shown["letters"])), textMessage("assistant", String(hidden["word"]))],
    };
  },
  create: (context) => {
    let word = "";
    return {
      async reset({ task = "", seed = 0 }) {
        const [split = "", index] = task.split("/");
        const { public: shown, private: hidden } = await context.tasks.get(split, Number(index));
        word = String(hidden["word"]);
        const noise = context.random("noise", seed).integer(0, 255);
        const picture = {
          type: "image" as const,
          mediaType: "image/png",
          source: { data: Uint8Array.of(noise, 0, 255) },
        };
        return observe(
          [{ role: "user", name: "world", parts: [{ type: "text", text: String(shown["letters"]) }, picture] }],
          {
            tools: [{ name: "hint", description: "Gives nothing away.", parameters: { type: "object" } }],
            info: { noise },
          },
        );
      },
      async step(action) {
        const found = messageText(action.message) === word;
        return singleStep({
          messages: found ? [] : [textMessage("user", "No.")],
          reward: found ? score(1, { found: 1 }) : score(-0.1 / 3, { found: 0 }),
          terminated: found,
        });
      },
    };
  },
};
