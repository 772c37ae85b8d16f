import { describe, expect, test } from "@jest/globals";
import type { AlgorithmContext } from "@mrlm/spec";
import fc from "fast-check";
import { taskOrder, type TaskOrder } from "../src/learning.ts";

const contextOf = (...environments: { weight: number; size: number }[]): AlgorithmContext =>
  ({
    seed: 3,
    environments: environments.map(({ weight, size }, i) => ({
      ref: { id: `e${i}@1` },
      weight,
      splits: { train: size },
      orderedSplits: [],
    })),
  }) as unknown as AlgorithmContext;
const drawn = (order: TaskOrder, count: number): string[] =>
  order.take(count).flatMap(({ environment, tasks }) => tasks.map((task) => `${environment.ref.id} ${task}`));

describe("taskOrder", () => {
  test("environments have exactly their shares, whatever the batches", () => {
    const order = taskOrder(contextOf({ weight: 3, size: 50 }, { weight: 1, size: 50 }), "test");
    const counts = [8, 4, 12].map((count) => order.take(count).map(({ tasks }) => tasks.length));
    expect(counts).toEqual([
      [6, 2],
      [3, 1],
      [9, 3],
    ]);
  });

  test("tasks of an environment come once in each epoch", () => {
    const order = taskOrder(contextOf({ weight: 1, size: 7 }), "test");
    for (let epoch = 0; epoch < 3; epoch++) expect(new Set(drawn(order, 7)).size).toBe(7);
  });

  test("a split that its environment orders comes by index, and repeats", () => {
    const context = {
      seed: 3,
      environments: [{ ref: { id: "e@1" }, weight: 1, splits: { train: 3 }, orderedSplits: ["train"] }],
    } as unknown as AlgorithmContext;
    const [order, restored] = [taskOrder(context, "test"), taskOrder(context, "test")];
    expect(drawn(order, 5)).toEqual(["e@1 train/0", "e@1 train/1", "e@1 train/2", "e@1 train/0", "e@1 train/1"]);
    restored.restore(JSON.parse(JSON.stringify(order.state())));
    expect(drawn(restored, 2)).toEqual(["e@1 train/2", "e@1 train/0"]);
  });

  test("numerics 52: a restored order continues at the position of the saved one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 20 }), (before, after) => {
        const context = contextOf({ weight: 2, size: 9 }, { weight: 0.5, size: 4 });
        const [order, restored] = [taskOrder(context, "test"), taskOrder(context, "test")];
        order.take(before);
        restored.restore(JSON.parse(JSON.stringify(order.state())));
        expect(drawn(restored, after)).toEqual(drawn(order, after));
      }),
    );
  });
});
