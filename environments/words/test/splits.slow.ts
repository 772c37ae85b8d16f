import { expect, test } from "@jest/globals";
import { wordsOptions } from "../src/options.ts";
import { wordsTasks } from "../src/tasks.ts";

test("20,000 tasks: no words of eval are those of a game of train", async () => {
  const tasks = wordsTasks(wordsOptions.parse({ train_size: 18_000, eval_size: 2_000 }));
  const keysOf = async (split: string, count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const { game, words, questions } = (await tasks.get(split, i)).public;
        return JSON.stringify([game, words.toSorted(), questions.toSorted()]);
      }),
    );
  const train = new Set(await keysOf("train", 18_000));
  const held = await keysOf("eval", 2_000);
  expect(held.filter((key) => train.has(key))).toEqual([]);
  expect(train.size + new Set(held).size).toBe(20_000);
});
