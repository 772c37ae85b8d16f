import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Baseline, groupAdvantages, type Scale } from "../src/advantages.ts";
import { grpoOptions } from "../src/options.ts";

const rewards = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 8 });
const baselines = fc.constantFrom<Baseline>("group_mean", "leave_one_out");
const scales = fc.constantFrom<Scale>("none", "group_std", "batch_std");

describe("groupAdvantages", () => {
  test("numerics 8: golden numbers of each formula (n - 1 in the deviation, 1e-4 beside it)", () => {
    const group = [[1, 0, 0, 1]];
    const deviation = Math.sqrt(1 / 3);
    expect(groupAdvantages(group, "group_mean", "none")).toEqual([[0.5, -0.5, -0.5, 0.5]]);
    expect(groupAdvantages(group, "leave_one_out", "none")[0]?.map((a) => a.toFixed(9))).toEqual(
      [2 / 3, -2 / 3, -2 / 3, 2 / 3].map((a) => a.toFixed(9)),
    );
    expect(groupAdvantages(group, "group_mean", "group_std")[0]?.[0]).toBeCloseTo(0.5 / (deviation + 1e-4), 12);
    const [first, second] = groupAdvantages(
      [
        [1, 0],
        [3, 1],
      ],
      "group_mean",
      "batch_std",
    );
    const spread = Math.sqrt((2 * 0.25 + 2 * 1) / 3);
    expect([first?.[0], second?.[0]]).toEqual([0.5 / (spread + 1e-4), 1 / (spread + 1e-4)]);
  });

  test("numerics 9: a group without variance gets exactly 0, and so does a group of one", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.integer({ min: 1, max: 9 }),
        baselines,
        scales,
        (reward, size, baseline, scale) => {
          expect(
            groupAdvantages([new Array<number>(size).fill(reward)], baseline, scale)[0]?.every(
              (advantage) => Math.abs(advantage) === 0,
            ),
          ).toBe(true);
        },
      ),
    );
  });

  test("numerics 12: no scale makes a NaN, whatever the sizes of the groups", () => {
    fc.assert(
      fc.property(fc.array(rewards, { minLength: 1, maxLength: 4 }), baselines, scales, (groups, baseline, scale) => {
        expect(groupAdvantages(groups, baseline, scale).flat().every(Number.isFinite)).toBe(true);
      }),
    );
  });

  test("numerics 11: leave-one-out with group_std divides by the deviation of the whole group: no advantage is above the root of its size", () => {
    // The deviation of the other episodes is 0, so dividing by it would give the one success an advantage of 10,000.
    expect(groupAdvantages([[0, 0, 0, 1]], "leave_one_out", "group_std")[0]?.[3]).toBeCloseTo(1 / (0.5 + 1e-4), 12);
    fc.assert(
      fc.property(rewards, (group) => {
        for (const advantage of groupAdvantages([group], "leave_one_out", "group_std")[0] as number[])
          expect(Math.abs(advantage)).toBeLessThanOrEqual(Math.sqrt(group.length) + 1e-9);
      }),
    );
  });

  test("numerics 13: unless asked nothing is divided by a deviation; doing so makes the rarest success of a group its loudest episode", () => {
    expect(grpoOptions.parse({ steps: 1 })).toMatchObject({ scale: "none", baseline: "group_mean" });
    const successes = (wins: number, scale: Scale): number =>
      groupAdvantages([Array.from({ length: 8 }, (_, i) => Number(i < wins))], "group_mean", scale)[0]?.[0] as number;
    // Advantage with one success of eight, relative to four of eight: 1.75, and 2.65 with the division.
    expect(successes(1, "none") / successes(4, "none")).toBeCloseTo(1.75, 9);
    expect(successes(1, "group_std") / successes(4, "group_std")).toBeCloseTo(Math.sqrt(7), 2);
    expect(successes(1, "group_std") / successes(1, "none")).toBeGreaterThan(2.8);
  });

  test("advantages of a group add up to 0 and do not depend on a constant added to all rewards", () => {
    fc.assert(
      fc.property(rewards, fc.integer({ min: -8, max: 8 }), baselines, (group, shift, baseline) => {
        const [plain] = groupAdvantages([group], baseline, "none") as [number[]];
        const [shifted] = groupAdvantages([group.map((reward) => reward + shift)], baseline, "none") as [number[]];
        expect(plain.reduce((sum, advantage) => sum + advantage, 0)).toBeCloseTo(0, 8);
        // Rounding may remove a small difference after the shift: compare to the remaining precision.
        for (const [i, advantage] of plain.entries()) expect(shifted[i]).toBeCloseTo(advantage, 8);
      }),
    );
  });
});
