import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { explainedVariance } from "../src/metrics.ts";
import { generalizedAdvantages, whiten } from "../src/gae.ts";
import { valueLoss } from "../src/value-loss.ts";
import { klController } from "../src/kl-controller.ts";

const number = fc.double({ min: -3, max: 3, noNaN: true });
const steps = fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 8 }).chain((all) =>
  number.map((finalValue) => ({
    rewards: all.map(([reward]) => reward),
    values: all.map(([, value]) => value),
    finalValue,
  })),
);
const rate = fc.double({ min: 0, max: 1, noNaN: true });

describe("generalizedAdvantages", () => {
  test("golden numbers", () => {
    const found = generalizedAdvantages({ rewards: [0, 0, 1], values: [0.5, 0.25, 0.75], finalValue: 0 }, 0.9, 0.5);
    const [first, second, third] = [0.9 * 0.25 - 0.5, 0.9 * 0.75 - 0.25, 1 - 0.75];
    expect(Array.from(found)).toEqual([
      expect.closeTo(first + 0.45 * (second + 0.45 * third)),
      expect.closeTo(second + 0.45 * third),
      expect.closeTo(third),
    ]);
  });

  test("λ = 1 is the discounted return less the value, λ = 0 the one-step error", () => {
    fc.assert(
      fc.property(steps, rate, (episode, gamma) => {
        const { rewards, values, finalValue } = episode;
        const returns = rewards.map((_, t) =>
          rewards
            .slice(t)
            .reduce((sum, reward, k) => sum + gamma ** k * reward, gamma ** (rewards.length - t) * finalValue),
        );
        generalizedAdvantages(episode, gamma, 1).forEach((advantage, t) =>
          expect(advantage).toBeCloseTo((returns[t] as number) - (values[t] as number), 8),
        );
        generalizedAdvantages(episode, gamma, 0).forEach((advantage, t) =>
          expect(advantage).toBeCloseTo(
            (rewards[t] as number) + gamma * (values[t + 1] ?? finalValue) - (values[t] as number),
            8,
          ),
        );
      }),
    );
  });

  test("the value of the state after the last token reaches back through a truncated episode, and is 0 after a terminated one", () => {
    const episode = { rewards: [0, 0], values: [0, 0] };
    expect(Array.from(generalizedAdvantages({ ...episode, finalValue: 0.8 }, 1, 1))).toEqual([0.8, 0.8]);
    expect(Array.from(generalizedAdvantages({ ...episode, finalValue: 0 }, 1, 1))).toEqual([0, 0]);
  });
});

describe("whiten", () => {
  test("numerics 12: over all tokens, mean 0 and deviation 1; a single token stays as it is, equal ones give 0", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 5 }), {
          minLength: 1,
          maxLength: 4,
        }),
        (episodes) => {
          fc.pre(new Set(episodes.flat()).size > 1);
          const all = whiten(episodes.map((each) => Float64Array.from(each))).flatMap((each) => Array.from(each));
          expect(all.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
          expect(all.reduce((sum, value) => sum + value * value, 0) / (all.length - 1)).toBeCloseTo(1, 4);
        },
      ),
    );
    expect(whiten([Float64Array.of(3)])).toEqual([Float64Array.of(3)]);
    expect(whiten([Float64Array.of(2, 2), Float64Array.of(2)])).toEqual([Float64Array.of(0, 0), Float64Array.of(0)]);
  });
});

describe("valueLoss", () => {
  test("the slope is the finite difference of the loss, clipped or not", () => {
    fc.assert(
      fc.property(
        number,
        number,
        number,
        fc.option(fc.double({ min: 0.1, max: 1, noNaN: true }), { nil: undefined }),
        (value, old, target, clip) => {
          const h = 1e-6;
          const loss = (by: number): number => valueLoss(value + by, old, target, clip).loss;
          const { slope } = valueLoss(value, old, target, clip);
          const sides = [(loss(0) - loss(-h)) / h, (loss(h) - loss(0)) / h];
          expect(Math.min(...sides.map((side) => Math.abs(side - slope)))).toBeLessThan(1e-4);
        },
      ),
    );
  });

  test("numerics 48: the clip is around the old value, and a value that has moved far enough towards its target feels nothing", () => {
    expect(valueLoss(0.5, 0, 1, 0.2)).toEqual({ loss: expect.closeTo(0.32), slope: 0, isHeld: true });
    expect(valueLoss(0.1, 0, 1, 0.2)).toEqual({
      loss: expect.closeTo(0.405),
      slope: expect.closeTo(-0.9),
      isHeld: false,
    });
    expect(valueLoss(-0.5, 0, 1, 0.2)).toMatchObject({ slope: -1.5, isHeld: false });
  });
});

test("explained variance: 1 for what foresees everything, 0 for a constant, nothing where there is nothing to explain", () => {
  expect(explainedVariance([1, 2, 3], [1, 2, 3])).toBe(1);
  expect(explainedVariance([7, 7, 7], [1, 2, 3])).toBe(0);
  expect(explainedVariance([3, 2, 1], [1, 2, 3])).toBe(-3);
  expect(explainedVariance([1, 2], [5, 5])).toBeUndefined();
});

test("the adaptive coefficient rises above its target, falls below it, and no faster than a fifth in a horizon", () => {
  const adaptive = klController({ kl_coefficient: 1, kl_target: 2, kl_horizon: 100 });
  adaptive.update(100, 50);
  expect(adaptive.coefficient).toBeCloseTo(1.1, 12);
  adaptive.update(0, 100);
  expect(adaptive.coefficient).toBeCloseTo(0.88, 12);
  const fixed = klController({ kl_coefficient: 1, kl_horizon: 100 });
  fixed.update(100, 50);
  expect(fixed.coefficient).toBe(1);
});
