/** Prompts of a file, rewarded by the share of digits in the answer: cheap, dense and never constant within a group, as the peers' reward is. */
import { readFileSync } from "node:fs";
import { defineEnvironment, definePlugin, messageText, observe, singleStep, taskById, textMessage } from "@mrlm/kit";
import { score, type Task, type TaskSource } from "@mrlm/spec";
import { z } from "zod";

const options = z.strictObject({ file: z.string() });

function tasksOf(file: string): TaskSource {
  const { prompts } = JSON.parse(readFileSync(file, "utf8")) as { prompts: string[] };
  return {
    splits: { train: prompts.length, eval: 1 },
    get: async (split, index): Promise<Task> => ({
      id: `${split}/${index}`,
      public: { prompt: prompts[index] as string },
      private: {},
    }),
  };
}

const prompts = defineEnvironment<z.output<typeof options>>({
  id: "prompts@1",
  description: "Answers to given prompts, rewarded by their share of digits.",
  determinism: "full",
  options,
  tasks: (_context, { file }) => tasksOf(file),
  create: (context) => ({
    async reset({ task = "train/0" }) {
      const { public: shown } = await taskById(context.tasks, task);
      return observe([textMessage("user", String(shown["prompt"]))]);
    },
    async step({ message }) {
      const characters = [...messageText(message)];
      const digits = characters.filter((character) => character >= "0" && character <= "9").length;
      return singleStep({ reward: score(digits / Math.max(1, characters.length)), terminated: true });
    },
  }),
});

export default definePlugin({ name: "@mrlm/benchmark-prompts", environments: [prompts] });
