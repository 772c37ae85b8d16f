import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { compareTasks, mcnemar } from "../src/evaluation/comparison.ts";
import { passAllK } from "../src/evaluation/pass-at-k.ts";
import { tasksToShow, variance } from "../src/evaluation/power.ts";
import type { TaskScore } from "../src/evaluation/summarise.ts";

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

describe("McNemar's exact test", () => {
  test("is the share of the 2^n equally likely directions of the discordant tasks that are at least as uneven", () => {
    for (let n = 1; n <= 12; n++)
      for (let b = 0; b <= n; b++) {
        let extreme = 0;
        for (let directions = 0; directions < 2 ** n; directions++) {
          const ones = directions.toString(2).replaceAll("0", "").length;
          if (Math.abs(ones - n / 2) >= Math.abs(b - n / 2)) extreme++;
        }
        expect(mcnemar(b, n - b)).toBeCloseTo(extreme / 2 ** n, 12);
      }
  });

  test("has no difference without discordant tasks, and is finite for many", () => {
    expect(mcnemar(0, 0)).toBe(1);
    expect(mcnemar(2_000, 2_000)).toBe(1);
    // The normal approximation with continuity correction: z = (200 - 1) / √2000, two-sided.
    expect(mcnemar(900, 1_100)).toBeCloseTo(8.6e-6, 6);
  });
});

test("pass^k is the share of the subsets of k samples that all solve the task", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(9), fc.integer({ min: 1, max: 9 }), (n, solved, size) => {
      const [c, k] = [Math.min(solved, n), Math.min(size, n)];
      let [subsets, hits] = [0, 0];
      for (let chosen = 0; chosen < 2 ** n; chosen++) {
        const bits = [...chosen.toString(2).padStart(n, "0")];
        if (bits.filter((bit) => bit === "1").length !== k) continue;
        subsets++;
        if (bits.every((bit, i) => bit === "0" || i < c)) hits++;
      }
      expect(passAllK(n, c, k)).toBeCloseTo(hits / subsets, 10);
    }),
  );
});

test("the number of tasks has a power of 80 %: enumerated over all counts of discordant tasks", () => {
  // A task: only the second model solves it (0.3), only the first (0.1), or neither differs.
  const [better, worse, wanted] = [0.3, 0.1, 0.2];
  const spread = better + worse - wanted ** 2;
  const n = tasksToShow(spread, wanted) as number;
  let power = 0;
  for (let c = 0; c <= n; c++)
    for (let b = 0; b + c <= n; b++) {
      const z = (c - b) / n / Math.sqrt(spread / n);
      if (Math.abs(z) < 1.959964) continue;
      power += choose(n, c) * choose(n - c, b) * better ** c * worse ** b * (1 - better - worse) ** (n - b - c);
    }
  expect(power).toBeGreaterThan(0.77);
  expect(power).toBeLessThan(0.83);
  expect(tasksToShow(0)).toBeNull();
  // Two proportions near one half: 2 (1.96 + 0.84)² 0.25 / 0.05² = 1570 tasks, as in textbooks.
  expect(tasksToShow(0.5)).toBe(1570);
  expect(variance([0, 1, 1, 0])).toBeCloseTo(1 / 3, 12);
});

describe("a comparison of two models", () => {
  const scores = (solved: readonly number[], cluster = (i: number): string => `c${i}`): TaskScore[] =>
    solved.map((value, i) => ({ task: `eval/${i}`, cluster: cluster(i), episodes: 1, solved: value, reward: value }));

  test("counts tasks that one of them alone solves, and its interval is that of the normal approximation for many", () => {
    const solved = Array.from(
      { length: 400 },
      (_, i) => [Number(i % 10 < 5), Number(i % 10 < 3 || i % 10 > 5)] as const,
    );
    const found = compareTasks(scores(solved.map(([one]) => one)), scores(solved.map(([, other]) => other)));
    expect(found).toMatchObject({
      tasks: 400,
      difference: expect.closeTo(0.2, 10),
      mcnemar: { onlyFirst: 80, onlySecond: 160 },
    });
    expect(found?.mcnemar?.p).toBeLessThan(1e-6);
    const deviation = Math.sqrt(variance(solved.map(([one, other]) => other - one)) / 400);
    const [low = 0, high = 0] = found?.interval ?? [];
    expect(low).toBeCloseTo(0.2 - 1.96 * deviation, 1.9);
    expect(high).toBeCloseTo(0.2 + 1.96 * deviation, 1.9);
    expect(found?.tasksToShow).toBe(tasksToShow(deviation ** 2 * 400));
  });

  test("takes equal tasks as one observation, and tasks of both alone", () => {
    const first = scores([0, 0, 0, 1], (i) => (i < 3 ? "same" : "other"));
    const second = [...scores([1, 1, 1, 1]), { task: "eval/9", cluster: "x", episodes: 1, solved: 1, reward: 1 }];
    expect(compareTasks(first, second)).toMatchObject({
      tasks: 2,
      difference: 0.5,
      mcnemar: { onlyFirst: 0, onlySecond: 1, p: 1 },
    });
    expect(compareTasks(first, scores([]))).toBeUndefined();
  });

  test("claims no interval where no task differs, and none of McNemar for several episodes", () => {
    const one = scores([1, 0, 1]).map((score) => ({ ...score, episodes: 2, reward: null }));
    expect(compareTasks(one, one)).toEqual({
      tasks: 3,
      difference: 0,
      interval: null,
      reward: null,
      tasksToShow: null,
    });
  });
});
