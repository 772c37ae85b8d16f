import { fileURLToPath } from "node:url";
import {
  anyTask,
  defineEnvironment,
  definePlugin,
  divide,
  invalidRow,
  type JsonlRow,
  listedTasks,
  messageText,
  observe,
  readJsonl,
  score,
  singleStep,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { z } from "zod";

const OWN_DATA = fileURLToPath(new URL("elements.jsonl", import.meta.url));

const options = z.strictObject({
  data: z.string().optional().describe("JSONL file of `symbol` and `name`; default: that of the package"),
  attempts: z.int().min(1).max(10).default(3).describe("Answers that an episode allows"),
  penalty: z.number().min(0).max(1).default(0).describe("Subtracted from the reward for each wrong answer"),
});

const row = z.object({ symbol: z.string().min(1), name: z.string().min(1) });

function toRow({ value, place }: JsonlRow) {
  const { success, data } = row.safeParse(value);
  if (!success) throw invalidRow(place, "a row has the texts `symbol` and `name`");
  return { ...data, question: `Which element has the symbol ${data.symbol}?` };
}

const elements = defineEnvironment({
  id: "elements@1",
  description: "Name the chemical element of a symbol. A wrong answer earns a hint.",
  determinism: "full",
  options,
  rewardComponents: ["correct"],
  rewardRange: ({ attempts, penalty }) => [-attempts * penalty, 1],
  async tasks(context, { data }) {
    const rows = await readJsonl(data === undefined ? OWN_DATA : context.dataPath(data), "data");
    const { train, eval: heldOut } = divide(rows.map(toRow), 0.25, 0);
    return listedTasks({ train, eval: heldOut }, ({ question, name }) => ({ public: { question }, private: { name } }));
  },
  create(context, { attempts, penalty }) {
    let name = "";
    let wrong = 0;
    return {
      async reset({ task, seed = 0 }) {
        const { public: shown, private: hidden } = await taskById(context.tasks, task ?? anyTask(context, seed));
        name = hidden.name;
        wrong = 0;
        return observe([textMessage("user", shown.question)]);
      },
      async step({ message }) {
        if (messageText(message).trim().toLowerCase() === name.toLowerCase())
          return singleStep({ reward: score(1, { correct: 1 }), terminated: true });
        const terminated = ++wrong === attempts;
        const hint = textMessage("user", `No. The name begins with ${name.slice(0, wrong)}.`);
        return singleStep({ messages: terminated ? [] : [hint], reward: score(-penalty, { correct: 0 }), terminated });
      },
    };
  },
  fixtures: [
    { name: "the name", kind: "gold", task: "eval/0", policy: ({ task }) => task.private.name, reward: 1 },
    {
      name: "the name at the second attempt",
      kind: "gold",
      options: { penalty: 0.25 },
      task: "train/0",
      policy: ({ task, turn }) => (turn === 0 ? "?" : task.private.name),
      reward: 0.75,
    },
    { name: "nothing", kind: "nop", task: "train/1", policy: () => "", reward: 0 },
    {
      name: "the place where the name is",
      kind: "cheat",
      task: "train/2",
      policy: () => "task.private.name",
      reward: 0,
    },
    {
      name: "no name",
      kind: "malformed",
      options: { attempts: 2, penalty: 0.5 },
      task: "train/3",
      policy: () => "?!",
      reward: -1,
    },
    { name: "twice the same", kind: "determinism", seed: 5, policy: ({ turn }) => String(turn) },
  ],
});

export default definePlugin({ name: "elements-environment", environments: [elements] });
