import { describe, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import fc from "fast-check";
import { type PacedShape, type PacedTake, pacedPlay } from "./support/paced-play.ts";

/** Lognormal seconds with mean 0.03 and 99th percentile 0.3, ten times as long for odd tasks. */
function randomDurations(seed: number): PacedShape["durationOf"] {
  return (number, task) => {
    const random = randomStream(`durations/${number}`, seed);
    const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    return Math.exp(1.429 * normal - 1.429 ** 2 / 2) * (task % 2 === 1 ? 0.3 : 0.03);
  };
}

const shapes = fc.record({
  seed: fc.nat(1_000),
  lag: fc.constantFrom(1, 2, 4, 8),
  groups: fc.integer({ min: 1, max: 4 }),
  takes: fc.integer({ min: 10, max: 12 }),
  learnSeconds: fc.constantFrom(0.001, 0.03, 0.5),
  atOnce: fc.constantFrom(1, 3, 1_000),
});
const CURRICULUM: PacedShape["curriculum"] = {
  pass_rate: [0.1, 0.9],
  ...{ fresh: 0.2, hard: 0.1, half_life: 3, mixture: "weights" },
};
const oneTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

describe("async play that waits", () => {
  test("any durations: takes are in the order of opening, nothing is refused or older than the lag, and only what the lag demands is waited for", async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async ({ seed, lag, groups, takes, learnSeconds, atOnce }) => {
        const durationOf = randomDurations(seed);
        const played = new Map<number, number>();
        const taken = await pacedPlay({
          ...{ takes, groups, learnSeconds, atOnce, mode: { mode: "async", lag } },
          durationOf: (number, task) => played.set(number, durationOf(number, task)).get(number) as number,
        });
        // The groups are learnt from in the order of opening: slow tasks have their share in each batch.
        expect(taken.flatMap(({ numbers }) => numbers)).toEqual(oneTo(takes * groups));
        expect(played.size).toBe(takes * groups);
        for (const take of taken) {
          expect(take).toMatchObject({ refused: 0, metrics: { "selection/tasks": 1, "selection/durations": 1 } });
          expect(take.oldest).toBeLessThanOrEqual(lag);
        }
        if (atOnce < (lag + 1) * groups) return;
        // A take is made as soon as the weights before it are published, and groups that begin with those of lag takes before are played.
        const published = (k: number): number => (k <= 0 ? 0 : (taken[k - 1] as PacedTake).at + learnSeconds);
        for (const [k, { numbers, at, oldest }] of taken.entries()) {
          expect(oldest).toBe(Math.min(k, lag));
          const slowest = Math.max(...numbers.map((number) => played.get(number) as number));
          expect(at).toBeCloseTo(Math.max(published(k), published(k - lag) + slowest), 6);
        }
      }),
      { numRuns: 6 },
    );
  });

  test.each([1, 2, 4, 8])(
    "half of the tasks wait 0.4 s: lag %i learns from lag + 1 times the groups of play in turn",
    async (lag) => {
      const durationOf: PacedShape["durationOf"] = (_, task) => (task % 2 === 1 ? 0.4 : 0.001);
      const [groups, learnSeconds, takes] = [8, 0.01, 4 * (lag + 1)];
      const taken = await pacedPlay({ takes, groups, learnSeconds, durationOf, mode: { mode: "async", lag } });
      const tasks = taken.flatMap((take) => take.tasks);
      expect(tasks.filter((task) => task % 2 === 1).length / tasks.length).toBeCloseTo(0.5, 1);
      // A take in turn needs 0.41 s.
      expect((0.41 * takes) / (taken.at(-1) as { at: number }).at).toBeGreaterThan(0.95 * (lag + 1));
    },
  );

  test("groups that the algorithm refuses leave their places to others: no token is older than the lag", async () => {
    for (const lag of [1, 3]) {
      const taken = await pacedPlay({
        ...{ takes: 12, groups: 3, learnSeconds: 0.05, mode: { mode: "async", lag } },
        ...{ durationOf: randomDurations(lag), refuses: (task) => task % 3 === 0 },
      });
      expect(taken.map(({ numbers }) => numbers.length)).toEqual(Array(12).fill(3));
      const numbers = taken.flatMap((take) => take.numbers);
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      expect(Math.max(...taken.map(({ oldest }) => oldest))).toBe(lag);
      expect(taken.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(5);
    }
  });

  test.each([1, 4])(
    "samplers that read new weights later shorten what is opened: at most one batch is refused; lag %i",
    async (lag) => {
      const taken = await pacedPlay({
        ...{ takes: 20, groups: 3, learnSeconds: 0.05, delaySeconds: 0.02, mode: { mode: "async", lag } },
        durationOf: () => 0.1,
      });
      expect(taken.reduce((sum, { refused }) => sum + refused, 0)).toBeLessThanOrEqual(3);
      expect(Math.max(...taken.map(({ oldest }) => oldest))).toBe(lag);
    },
  );

  test("a run that was killed takes the same groups as one that was not, whatever had been played", async () => {
    const shape = { takes: 14, groups: 3, learnSeconds: 0.05, durationOf: randomDurations(7) };
    const mode = { mode: "async", lag: 2 } as const;
    const groupsOf = async (changes: Partial<PacedShape>): Promise<(readonly number[])[]> => {
      const taken = await pacedPlay({ ...shape, mode, ...changes });
      expect(Math.max(...taken.map(({ oldest }) => oldest))).toBeLessThanOrEqual(2);
      return taken.map(({ numbers }) => numbers);
    };
    const undisturbed = await groupsOf({});
    for (const killedAfter of [4, 5, 9, 12]) expect(await groupsOf({ killedAfter })).toEqual(undisturbed);
  });

  test("with a curriculum the tasks depend neither on the durations of play nor on the delays of samplers, nor on a kill", async () => {
    const shape: PacedShape = {
      ...{ takes: 16, groups: 3, learnSeconds: 0.05, durationOf: randomDurations(7), mode: { mode: "async", lag: 2 } },
      ...{ curriculum: CURRICULUM },
      refuses: (task) => task % 3 === 2,
      rewardOf: (_, task) => [0, 0.5, 1][task % 3] as number,
    };
    const drawn = async (changes: Partial<PacedShape>): Promise<(number | undefined)[]> => {
      const { durationOf, ...all } = { ...shape, ...changes };
      const tasks: number[] = [];
      await pacedPlay({
        ...all,
        durationOf: (number, task) => {
          // What is played anew after a kill is the same.
          expect(tasks[number] ?? task).toBe(task);
          tasks[number] = task;
          return durationOf(number, task);
        },
      });
      return tasks.slice(0, 45);
    };
    const undisturbed = await drawn({});
    expect(undisturbed.slice(1)).not.toContain(undefined);
    for (const killedAfter of [5, 12]) expect(await drawn({ killedAfter })).toEqual(undisturbed);
    expect(await drawn({ durationOf: randomDurations(8), atOnce: 4, delaySeconds: 0.02 })).toEqual(undisturbed);
    // The groups that were played first are others after a kill; what was opened before it is opened again.
    const correct = { ...shape, mode: { mode: "async", lag: 2, on_stale: "correct" }, killedAfter: 9 } as const;
    expect((await pacedPlay(correct)).map(({ tasks }) => tasks.length)).toEqual(Array(16).fill(3));
  });
});

test("on_stale: correct learns first from the groups that were played first, also from tokens that are older than the lag; each group once", async () => {
  const shape = {
    takes: 30,
    groups: 4,
    learnSeconds: 0.01,
    mode: { mode: "async", lag: 1, on_stale: "correct" },
  } as const;
  const taken = await pacedPlay({ ...shape, durationOf: (_, task) => (task % 4 === 1 ? 0.4 : 0.001) });
  expect(Math.max(...taken.map(({ oldest }) => oldest))).toBeGreaterThan(1);
  const numbers = taken.flatMap((take) => take.numbers);
  expect(numbers).not.toEqual(oneTo(120));
  expect(numbers.toSorted((one, other) => one - other)).toEqual(oneTo(120));
});
