import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { environmentOf } from "../src/play/labels.ts";
import { CreditTurns } from "../src/play/curriculum/credit-turns.ts";
import { curriculumOrder, type CurriculumShape, drawTasks, groupOf, saved } from "./support/curriculum-play.ts";

/** Task `i` is too easy, too hard or in the range by i mod 3. */
const rateOf = (task: number): number => [1, 0, 0.5][task % 3] as number;

type Draw = readonly [environment: number, task: number];

/** Plays batches in turn and returns the draws of each. */
function play(shape: CurriculumShape, batches: number, rate: (draw: Draw, batch: number) => number): Draw[][] {
  const order = curriculumOrder(shape);
  return Array.from({ length: batches }, (_, batch) => {
    const draws = drawTasks(order, shape.groups);
    order.observe(draws.map((draw, i) => groupOf(draw, rate(draw, batch), batch * shape.groups + i)));
    return draws;
  });
}

const shareWhere = (draws: readonly Draw[], holds: (task: number) => boolean): number =>
  draws.filter(([, task]) => holds(task)).length / draws.length;

describe("curriculum", () => {
  test("on a mixed set most draws are of tasks in the range, after they were measured; fresh tasks keep their share", () => {
    const batches = play({ environments: [{ size: 3000 }], groups: 16 }, 40, ([, task]) => rateOf(task));
    expect(shareWhere(batches[0] as Draw[], (task) => task % 3 === 2)).toBeLessThan(0.6);
    const later = batches.slice(10).flat();
    expect(shareWhere(later, (task) => task % 3 === 2)).toBeGreaterThan(0.6);
    const seen = new Set(batches.slice(0, 10).flatMap((draws) => draws.map(([, task]) => task)));
    const fresh = new Set(later.map(([, task]) => task).filter((task) => !seen.has(task)));
    expect(fresh.size / later.length).toBeGreaterThanOrEqual(0.4);
    expect(fresh.size / later.length).toBeLessThan(0.5);
    expect(shareWhere(later, (task) => task % 3 === 1)).toBeLessThan(0.25);
  });

  test("no task is lost: each is drawn again and again, whatever its rates are", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(undefined, 1, 3),
        (size, groups, lag) => {
          const shape = {
            ...{ environments: [{ size }], groups, settings: { half_life: 2 } },
            ...(lag !== undefined && { ahead: (lag + 1) * groups }),
          };
          const order = curriculumOrder(shape);
          const open: Draw[] = [];
          let draws = 0;
          const round = (): Set<number> => {
            const tasks = new Set<number>();
            for (let i = 0; i < Math.ceil((size * 40) / groups) + 20; i++) {
              const batch = drawTasks(order, groups);
              for (const [, task] of batch) tasks.add(task);
              open.push(...batch);
              while (open.length > (shape.ahead ?? groups) - groups) {
                const draw = open.shift() as Draw;
                order.observe([groupOf(draw, rateOf(draw[1]), draws++)]);
              }
            }
            return tasks;
          };
          expect(round().size).toBe(size);
          expect(round().size).toBe(size);
        },
      ),
      { numRuns: 5 },
    );
  });

  test("a task whose rate changes is placed anew; what was learnt leaves, what became possible comes", () => {
    const shape = { environments: [{ size: 90 }], groups: 12, settings: { half_life: 4 } };
    // After 40 batches the tasks of 0.5 are always solved, and those of 0 sometimes.
    const batches = play(shape, 80, ([, task], batch) => (batch < 40 ? rateOf(task) : [1, 0.5, 1][task % 3]) as number);
    expect(shareWhere(batches.slice(20, 40).flat(), (task) => task % 3 === 2)).toBeGreaterThan(0.6);
    expect(shareWhere(batches.slice(70).flat(), (task) => task % 3 === 1)).toBeGreaterThan(0.6);
  });

  test("a task that was solved and then fails is drawn as an active one, unlike those that never were", () => {
    const shape = { environments: [{ size: 90 }], groups: 12 };
    // A third of the tasks is solved in some episodes, and from batch 30 in none.
    const batches = play(shape, 60, ([, task], batch) => (task % 3 === 2 && batch < 30 ? 0.5 : 0));
    const later = batches.slice(55).flat();
    expect(shareWhere(later, (task) => task % 3 === 2)).toBeGreaterThan(0.6);
  });

  test("the shares of fresh and of hard tasks hold while there are some", () => {
    for (const [fresh, hard] of [
      [0.5, 0],
      [0.1, 0.3],
    ] as const) {
      const batches = play(
        { environments: [{ size: 100_000 }], groups: 10, settings: { fresh, hard, half_life: 24 } },
        60,
        ([, task]) => rateOf(task),
      );
      const seen = new Set(batches.slice(0, 20).flatMap((draws) => draws.map(([, task]) => task)));
      const later = batches.slice(20).flat();
      let news = 0;
      let again = 0;
      for (const [, task] of later) {
        if (!seen.has(task)) news++;
        else if (task % 3 === 1) again++;
        seen.add(task);
      }
      // A fifth of the share is for tasks to be measured again, of which there are none.
      expect(news / later.length).toBeGreaterThan(0.8 * fresh - 0.005);
      expect(again / later.length).toBeGreaterThan(hard - 0.02);
    }
  });

  test("a task is drawn at most four times as often as without a curriculum, however few are in the range", () => {
    const batches = play({ environments: [{ size: 120 }], groups: 16 }, 60, ([, task]) => (task < 5 ? 0.5 : 0));
    const last = new Map<number, number>();
    for (const [i, [, task]] of batches.flat().entries()) {
      const before = last.get(task);
      if (before !== undefined) expect(i - before).toBeGreaterThan(30);
      last.set(task, i);
    }
    const counts = Map.groupBy(batches.flat(), ([, task]) => task);
    expect(counts.get(0)?.length).toBeGreaterThan(20);
  });

  const shapes = fc.record({
    seed: fc.nat(99),
    environments: fc.array(fc.record({ size: fc.integer({ min: 1, max: 50 }), weight: fc.constantFrom(1, 2.5) }), {
      minLength: 1,
      maxLength: 3,
    }),
    groups: fc.integer({ min: 1, max: 7 }),
    settings: fc.record({
      fresh: fc.constantFrom(0, 0.3),
      half_life: fc.constantFrom(1, 7.3),
      mixture: fc.constantFrom("weights" as const, "progress" as const),
    }),
  });

  test("resumed at any point the order is the same", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        fc.integer({ min: 1, max: 25 }),
        (shape, sizes, cut) => {
          const whole = curriculumOrder(shape);
          let part = curriculumOrder(shape);
          for (let step = 0; step < 25; step++) {
            const count = sizes.next().value as number;
            if (step % cut === cut - 1) {
              const position = saved(part.position());
              part = curriculumOrder(shape);
              part.seek(position);
              expect(part.position()).toEqual(position);
            }
            const draws = drawTasks(whole, count);
            expect(drawTasks(part, count)).toEqual(draws);
            const groups = draws.map((draw, i) => groupOf(draw, rateOf(draw[1]), step * 10 + i, draw[1] % 2));
            whole.observe(groups);
            // Between two halves of a batch too.
            part.observe(groups.slice(0, 1));
            if (step % 3 === 0) {
              const position = saved(part.position());
              part = curriculumOrder(shape);
              part.seek(position);
            }
            part.observe(groups.slice(1));
            expect(part.metrics()).toEqual(whole.metrics());
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  test("drawn ahead of the results, the order depends on none that may not be there", () => {
    fc.assert(
      fc.property(shapes, fc.constantFrom(1, 2, 4), fc.infiniteStream(fc.nat(5)), (shape, lag, delays) => {
        const ahead = (lag + 1) * shape.groups;
        const run = (delayOf: () => number): Draw[] => {
          const order = curriculumOrder({ ...shape, ahead });
          const drawn: Draw[] = [];
          let observed = 0;
          while (drawn.length < 120) {
            drawn.push(...drawTasks(order, 1));
            // As early as possible, or as late as the pace allows.
            const latest = drawn.length + 1 - ahead;
            const wanted = Math.max(latest, drawn.length - delayOf());
            for (; observed < wanted; observed++)
              order.observe([groupOf(drawn[observed] as Draw, rateOf(drawn[observed]?.[1] as number), observed)]);
          }
          return drawn;
        };
        expect(run(() => delays.next().value as number)).toEqual(run(() => ahead));
      }),
      { numRuns: 12 },
    );
  });

  test("a difficulty that the environment states is the prior of its tasks: one failed group places a task of a failed level, and not one of a solved level", () => {
    const shape = { environments: [{ size: 400 }], groups: 10, settings: { fresh: 1 - 0.05 - 1e-9, half_life: 1e9 } };
    const order = curriculumOrder(shape);
    // Tasks of level 1 pass in half of the episodes, those of level 2 never.
    const levelOf = (task: number): number => 1 + (task % 2);
    let number = 0;
    for (let batch = 0; batch < 30; batch++) {
      const draws = drawTasks(order, 10);
      order.observe(draws.map((draw) => groupOf(draw, levelOf(draw[1]) === 1 ? 0.5 : 0, number++, levelOf(draw[1]))));
    }
    const { tasks } = (order.position().curriculum as { pools: { tasks: { level: number[] } }[] }).pools[0] as {
      tasks: { level: number[] };
    };
    expect(new Set(tasks.level)).toEqual(new Set([1, 2]));
    const { "curriculum/active": active, "curriculum/hard": hard } = order.metrics() as Record<string, number>;
    const ofLevel = (level: number): number => tasks.level.filter((each) => each === level).length;
    expect(active).toBe(ofLevel(1));
    expect(hard).toBe(ofLevel(2));
  });

  test("mixture: progress gives most groups to the environment whose rates change, and each keeps a fifth of its weight", () => {
    const shape = { environments: [{ size: 40 }, { size: 40 }], groups: 16 };
    // The first environment is learnt, the second one stays at 0.5.
    const rate = ([environment]: Draw, batch: number): number => (environment === 0 ? batch / 60 : 0.5);
    const shares = (["weights", "progress"] as const).map((mixture) => {
      const draws = play({ ...shape, settings: { mixture } }, 50, rate)
        .slice(20)
        .flat();
      return draws.filter(([environment]) => environment === 0).length / draws.length;
    });
    expect(shares[0]).toBeCloseTo(0.5, 2);
    expect(shares[1]).toBeGreaterThan(0.65);
    expect(shares[1]).toBeLessThanOrEqual(0.9);
  });

  test("turns by shares differ from the shares by less than the number of sources, also where they change", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9)), { minLength: 1, maxLength: 60 }), (weights) => {
        const turns = new CreditTurns([1, 0, 0]);
        const [taken, due] = [
          [0, 0, 0],
          [0, 0, 0],
        ];
        for (const each of weights) {
          const total = each[0] + each[1] + each[2];
          if (total > 0) turns.shares = each.map((weight) => weight / total);
          for (const [i, share] of turns.shares.entries()) due[i] = (due[i] as number) + share;
          const turn = turns.next();
          taken[turn] = (taken[turn] as number) + 1;
          for (const [i, count] of taken.entries()) expect(Math.abs(count - (due[i] as number))).toBeLessThan(3);
        }
      }),
    );
  });

  test("the environment of a group follows from its id, with twins and with several groups of a task", () => {
    const ids = ["a@1", "b@1", "a@1"];
    const of = (id: string): number => environmentOf({ id, task: "train/1" }, ids);
    expect([of("0/n/3/a@1/a@1/train/1"), of("0/n/3/0/b@1/b@1/train/1#2"), of("0/n/3/a@1#2/a@1/train/1#1")]).toEqual([
      0, 1, 2,
    ]);
  });
});
