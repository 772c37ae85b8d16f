import { describe, expect, test } from "@jest/globals";
import type { TrainingEnvironment } from "@mrlm/spec";
import fc from "fast-check";
import { taskOrder as orderOf, type TaskOrder } from "../src/play/task-order.ts";

const taskOrder = (environments: readonly TrainingEnvironment[]): TaskOrder => orderOf(environments, "test", 3);
const environmentsOf = (...sizes: { weight: number; size: number }[]): TrainingEnvironment[] =>
  sizes.map(({ weight, size }, i) => ({
    ref: { id: `e${i}@1` },
    weight,
    splits: { train: size },
    orderedSplits: [],
    hasDemonstrations: false,
    determinism: "full",
    demonstrate: async () => [],
  }));
const drawn = (order: TaskOrder, count: number): string[] =>
  order.take(count).flatMap(({ environment, tasks }) => tasks.map((task) => `${environment} ${task}`));

describe("taskOrder", () => {
  test("environments have exactly their shares, whatever the batches", () => {
    const order = taskOrder(environmentsOf({ weight: 3, size: 50 }, { weight: 1, size: 50 }));
    const counts = [8, 4, 12].map((count) => order.take(count).map(({ tasks }) => tasks.length));
    expect(counts).toEqual([
      [6, 2],
      [3, 1],
      [9, 3],
    ]);
  });

  test("tasks of an environment come once in each epoch", () => {
    const order = taskOrder(environmentsOf({ weight: 1, size: 7 }));
    for (let epoch = 0; epoch < 3; epoch++) expect(new Set(drawn(order, 7)).size).toBe(7);
  });

  test("a split that its environment orders comes by index, and repeats", () => {
    const context = environmentsOf({ weight: 1, size: 3 }).map((each) => ({ ...each, orderedSplits: ["train"] }));
    const [order, restored] = [taskOrder(context), taskOrder(context)];
    expect(drawn(order, 5)).toEqual(["0 train/0", "0 train/1", "0 train/2", "0 train/0", "0 train/1"]);
    restored.seek(JSON.parse(JSON.stringify(order.position())));
    expect(drawn(restored, 2)).toEqual(["0 train/2", "0 train/0"]);
  });

  test("numerics 52: a restored order continues at the position of the saved one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 20 }), (before, after) => {
        const context = environmentsOf({ weight: 2, size: 9 }, { weight: 0.5, size: 4 });
        const [order, restored] = [taskOrder(context), taskOrder(context)];
        order.take(before);
        restored.seek(JSON.parse(JSON.stringify(order.position())));
        expect(drawn(restored, after)).toEqual(drawn(order, after));
      }),
    );
  });
});
