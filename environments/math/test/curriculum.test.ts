import { describe, expect, test } from "@jest/globals";
import { mathOptions } from "../src/options.ts";
import { mathTasks } from "../src/tasks.ts";

const publicOf = async (given: object, split: string, from: number, to: number) => {
  const tasks = mathTasks(mathOptions.parse(given));
  return Promise.all(
    Array.from(
      { length: to - from },
      async (_, i) => (await tasks.get(split, from + i)).public as { family: string; difficulty: number },
    ),
  );
};

describe("which problems are drawn", () => {
  const curriculum = [
    { tasks: 50, difficulty_range: 1, families: ["arithmetic"] },
    { tasks: 50, difficulty_range: [2, 3] },
  ];
  const given = { families: ["linear", "systems"], difficulty_range: [7, 9], curriculum };

  test("a curriculum goes by the index of the training task, then the options hold", async () => {
    const [first, second, last] = [
      await publicOf(given, "train", 0, 50),
      await publicOf(given, "train", 50, 100),
      await publicOf(given, "train", 100, 150),
    ];
    expect(new Set(first.map(({ family, difficulty }) => `${family} ${difficulty}`))).toEqual(
      new Set(["arithmetic 1"]),
    );
    expect(new Set(second.map(({ difficulty }) => difficulty))).toEqual(new Set([2, 3]));
    expect(new Set(second.map(({ family }) => family))).toEqual(new Set(["linear", "systems"]));
    expect(new Set(last.map(({ difficulty }) => difficulty))).toEqual(new Set([7, 8, 9]));
  });

  test("the eval split has no curriculum, and may have a range of its own", async () => {
    expect(new Set((await publicOf(given, "eval", 0, 50)).map(({ difficulty }) => difficulty))).toEqual(
      new Set([7, 8, 9]),
    );
    expect(
      new Set(
        (await publicOf({ ...given, eval_difficulty_range: 10 }, "eval", 0, 20)).map(({ difficulty }) => difficulty),
      ),
    ).toEqual(new Set([10]));
  });

  test("a split with a curriculum is taken in order, and no other", () => {
    expect(mathTasks(mathOptions.parse(given)).orderedSplits).toEqual(["train"]);
    expect(mathTasks(mathOptions.parse({})).orderedSplits).toBeUndefined();
  });

  test("a task does not depend on those asked for before", async () => {
    expect(await publicOf(given, "train", 60, 61)).toEqual((await publicOf(given, "train", 0, 61)).slice(-1));
  });

  test("weights are proportions, and 0 is never", async () => {
    const families = (await publicOf({ families: { linear: 3, ordering: 1, systems: 0 } }, "train", 0, 800)).map(
      ({ family }) => family,
    );
    const share = families.filter((family) => family === "linear").length / families.length;
    expect(Math.abs(share - 0.75)).toBeLessThan(0.06);
    expect(families).not.toContain("systems");
  });

  test("a list and equal weights draw the same tasks", async () => {
    expect(await publicOf({ families: { arithmetic: 2, linear: 2 } }, "train", 0, 100)).toEqual(
      await publicOf({ families: ["arithmetic", "linear"] }, "train", 0, 100),
    );
  });

  test.each([
    [{ families: [] }],
    [{ families: {} }],
    [{ families: { linear: 0 } }],
    [{ difficulty_range: [5, 2] }],
    [{ curriculum: [{ tasks: 0 }] }],
    [{ answer_schema: "any" }],
    [{ answer_schema: "<b>" }],
  ])("%j is refused", (wrong) => expect(mathOptions.safeParse(wrong).success).toBe(false));
});
