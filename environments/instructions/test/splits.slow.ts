import { expect, test } from "@jest/globals";
import { instructionsOptions } from "../src/options.ts";
import { questionOf } from "../src/prompt.ts";
import { instructionTasks } from "../src/tasks.ts";

test.each([{}, { style: "terse", levels: 5 }] as const)(
  "20,000 tasks with %j: no question of eval stands in train, also with its lines in another order",
  async (given) => {
    const options = instructionsOptions.parse({ ...given, train_size: 18_000, eval_size: 2_000 });
    const tasks = instructionTasks(options);
    const questionsOf = (split: string, count: number): Promise<string[]> =>
      Promise.all(
        Array.from({ length: count }, async (_, i) => {
          const shown = (await tasks.get(split, i)).public;
          const ordered = { ...shown, items: shown.items.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
          return questionOf(ordered, options.style).split("\n").toSorted().join("\n");
        }),
      );
    const train = new Set(await questionsOf("train", 18_000));
    const held = await questionsOf("eval", 2_000);
    expect(held.filter((question) => train.has(question))).toEqual([]);
    expect(train.size).toBeGreaterThan(17_000);
  },
);
