import { describe, expect, test } from "@jest/globals";
import { generatedTasks } from "../src/index.ts";

const source = (seed = 0) =>
  generatedTasks({
    seed,
    splits: { train: { size: 300, share: 0.8 }, eval: { size: 50, share: 0.2 } },
    generate: (random) => {
      const n = random.integer(0, 200);
      return { public: { question: `${n}` }, private: { answer: `${n * 2}` }, key: `${n}` };
    },
  });

describe("generatedTasks", () => {
  test("N7: the parts of a task may be readonly down to their arrays", async () => {
    type World = { readonly rooms: readonly { readonly name: string; readonly exits: readonly number[] }[] };
    const world: World = { rooms: [{ name: "hall", exits: [1] }] };
    const tasks = generatedTasks({
      seed: 0,
      splits: { train: { size: 1, share: 1 } },
      generate: () => ({ public: world, private: world, key: "hall" }),
    });
    expect((await tasks.get("train", 0)).public.rooms[0]?.exits).toEqual([1]);
  });

  test("an index is always the same task", async () => {
    expect(await source().get("train", 7)).toEqual(await source().get("train", 7));
  });

  test("splits never share a key, even where the generator repeats itself", async () => {
    const tasks = source();
    const keys = async (split: string, size: number) =>
      new Set(
        await Promise.all(Array.from({ length: size }, async (_, i) => (await tasks.get(split, i)).public["question"])),
      );
    const train = await keys("train", 300);
    const held = await keys("eval", 50);
    expect([...held].filter((key) => train.has(key))).toEqual([]);
  });

  test("an index outside the split and an unknown split are TASK_NOT_FOUND", async () => {
    await expect(source().get("train", 300)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    await expect(source().get("test", 0)).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  test("a generator with too few tasks is reported instead of a loop without end", async () => {
    const tasks = generatedTasks({
      seed: 0,
      splits: { train: { size: 1, share: 1 }, eval: { size: 1, share: 1 } },
      generate: () => ({ public: {}, private: {}, key: "only" }),
    });
    const results = await Promise.allSettled([tasks.get("train", 0), tasks.get("eval", 0)]);
    expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
  });
});
