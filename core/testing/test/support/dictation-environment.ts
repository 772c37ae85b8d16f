import { generatedTasks, messageText, taskById, textMessage } from "@mrlm/kit";
import { type EnvironmentDefinition, type Fixture, type RoleId, roleOf, score, type ScriptedPolicy } from "@mrlm/spec";

const reversed = (word: string): string => [...word].toReversed().join("");
const answer = (role: RoleId, word: string): string => (role === "reader" ? word : reversed(word));
const fixtures: readonly Fixture[] = [
  {
    name: "both are right",
    kind: "gold",
    task: "train/0",
    policy: ({ role, task }) => answer(role, String(task.private["word"])),
    reward: 1,
  },
  {
    name: "the writer is right against a script",
    kind: "gold",
    task: "train/1",
    players: { reader: { scripted: "constant", options: { text: "?" } } },
    policy: ({ task }) => reversed(String(task.private["word"])),
    reward: 1,
  },
  { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
  { name: "the name of the field", kind: "cheat", task: "eval/0", policy: () => "task.private.word", reward: 0 },
  {
    name: "what was shown",
    kind: "malformed",
    task: "eval/1",
    policy: ({ messages }) => messages.map(messageText).join(" "),
    reward: 0,
  },
  { name: "the same again", kind: "determinism", seed: 5, policy: ({ agent, turn }) => `${agent} ${turn}` },
];

/** Script that reads the length of the word and replies with the same text. */
const constant: ScriptedPolicy = (context, options, seed) => ({
  act: async ({ agent }) => ({
    agent,
    message: textMessage("assistant", String(options["text"] ?? context.random("letters", seed).integer(0, 99))),
    finishReason: "stop",
  }),
});

/**
 * Two rounds in which a reader writes a word from its sorted letters and a writer writes it backwards; the second round starts the writer's conversation over. Each
 * round earns half. After one agent ran out of context the other one plays its rounds alone.
 */
export const dictation: EnvironmentDefinition = {
  id: "dictation@1",
  description: "Write a word forwards and backwards.",
  determinism: "full",
  maxTurns: 8,
  roles: { reader: { description: "Writes the word forwards." }, writer: { description: "Writes it backwards." } },
  scriptedPolicies: { constant },
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
  create: (context) => {
    let word = "";
    let letters = "";
    let rounds: Record<RoleId, number> = {};
    const shown = (role: RoleId) => ({
      agent: role,
      messages: [textMessage("user", `${role}: round ${rounds[role]} with ${letters}`)],
      ...(role === "writer" && rounds[role] === 1 ? { isFresh: true } : {}),
    });
    return {
      async reset({ task = "train/0" }) {
        const { public: open, private: hidden } = await taskById(context.tasks, task);
        [word, letters] = [String(hidden["word"]), String(open["letters"])];
        rounds = { reader: 0, writer: 0 };
        return shown("reader");
      },
      async step({ agent, message, finishReason }) {
        const role = roleOf(agent);
        const isExhausted = finishReason === "exhausted";
        rounds[role] = isExhausted ? 2 : (rounds[role] ?? 0) + 1;
        const isRight = !isExhausted && messageText(message) === answer(role, word);
        const left = Object.keys(rounds).filter((other) => (rounds[other] ?? 0) < 2);
        const next = left.find((other) => other !== role) ?? left[0];
        return {
          observation: next === undefined ? { agent: "", messages: [] } : shown(next),
          rewards: { [agent]: score(isRight ? 0.5 : 0) },
          terminated: Object.fromEntries(Object.entries(rounds).map(([other, played]) => [other, played >= 2])),
          truncated: {},
        };
      },
    };
  },
};
