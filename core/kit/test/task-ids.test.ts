import { describe, expect, test } from "@jest/globals";
import { anyTask, generatedTasks, randomStream, taskById } from "../src/index.ts";

const tasks = generatedTasks({
  seed: 1,
  splits: { train: { size: 0, share: 1 }, eval: { size: 4, share: 1 } },
  generate: (random) => {
    const start = random.integer(0, 999);
    return { public: { start }, private: {}, key: `${start}` };
  },
});

describe("task ids", () => {
  test("an id names the task of its split and index", async () => {
    expect((await taskById(tasks, "eval/3")).id).toBe("eval/3");
  });

  test("an id of no task is refused as its source refuses it", async () => {
    await expect(taskById(tasks, "eval/4")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
  });

  test("any task is one of the first split that has any, the same under the same seed, and all are met", () => {
    const drawn = Array.from({ length: 64 }, (_, seed) => anyTask({ tasks, random: randomStream }, seed));
    expect(anyTask({ tasks, random: randomStream }, 7)).toBe(drawn[7]);
    expect([...new Set(drawn)].sort()).toEqual(["eval/0", "eval/1", "eval/2", "eval/3"]);
  });
});
