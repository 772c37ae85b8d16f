import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { overlongPenalty } from "../src/samples.ts";
import { toBfloat16 } from "@mrlm/testing";
import { policyLosses, type PolicyLossOptions } from "../src/losses/index.ts";

const clip: PolicyLossOptions = {
  policy_loss: "clip",
  clip_low: 0.2,
  clip_high: 0.28,
  minirl_epsilon_high: 0.1,
  minirl_cap: 4,
};
const variants: PolicyLossOptions[] = [clip, { ...clip, dual_clip: 3 }, { ...clip, policy_loss: "gspo" }];
const logprob = fc.double({ min: -4, max: -0.01, noNaN: true });
const sequence = fc.array(
  fc.record({ now: logprob, old: logprob, weight: fc.double({ min: 0.1, max: 2, noNaN: true }) }),
  { minLength: 1, maxLength: 6 },
);
const advantage = fc.double({ min: -3, max: 3, noNaN: true });

const losses = (logprobs: number[], old: number[], weights: number[], a: number, options: PolicyLossOptions, age = 0) =>
  policyLosses({ logprobs, old, weights, advantage: a, age }, options);
const weighted = (now: number[], old: number[], weights: number[], a: number, options: PolicyLossOptions): number =>
  losses(now, old, weights, a, options).loss.reduce((sum, loss, t) => sum + loss * (weights[t] as number), 0);

describe("policyLosses", () => {
  test.each(variants)("the gradient is the finite difference of the loss: %j", (options) => {
    fc.assert(
      fc.property(sequence, advantage, (tokens, a) => {
        const now = tokens.map((token) => token.now);
        const old = tokens.map((token) => token.old);
        const weights = options.policy_loss === "gspo" ? tokens.map(() => 0.5) : tokens.map((token) => token.weight);
        const { gradient } = losses(now, old, weights, a, options);
        for (const t of now.keys()) {
          const moved = (step: number): number =>
            weighted(now.with(t, (now[t] as number) + step), old, weights, a, options);
          const left = (moved(0) - moved(-1e-6)) / 1e-6;
          const right = (moved(1e-6) - moved(0)) / 1e-6;
          // At a kink of the clip the two sides differ and the gradient is either.
          const tolerance = 1e-3 * (1 + Math.abs(left) + Math.abs(right));
          expect(
            Math.min(Math.abs(left - (gradient[t] as number)), Math.abs(right - (gradient[t] as number))),
          ).toBeLessThan(tolerance);
        }
      }),
    );
  });

  test("cispo: the clipped ratio is a constant weight of the log-probability's gradient", () => {
    const { gradient, clipped } = losses([-1, -1], [-1, -3], [1, 1], 2, { ...clip, policy_loss: "cispo" });
    expect(Array.from(gradient)).toEqual([-2, -2 * 1.28]);
    expect(clipped).toBe(1);
  });

  test("minirl: bounds of the ratio on the side that the advantage drives it to, wider for fresh samples than for old ones", () => {
    const slope = (ratio: number, a: number, age: number): number =>
      losses([Math.log(ratio)], [0], [1], a, { ...clip, policy_loss: "minirl" }, age).gradient[0] as number;
    // Fresh: 1 + 0.3 * 4 and 1 - 0.2 * 4; three versions old: 1 + 0.3 and 1 - 0.2.
    expect([slope(2.19, 1, 0), slope(2.21, 1, 0), slope(1.29, 1, 3), slope(1.31, 1, 3)]).toEqual([
      expect.closeTo(-2.19),
      0,
      expect.closeTo(-1.29),
      0,
    ]);
    expect([slope(0.21, -1, 0), slope(0.19, -1, 0), slope(0.81, -1, 3), slope(0.79, -1, 3)]).toEqual([
      expect.closeTo(0.21),
      0,
      expect.closeTo(0.81),
      0,
    ]);
    // The other side is never held.
    expect([slope(0.01, 1, 0), slope(9, -1, 0)]).toEqual([expect.closeTo(-0.01), expect.closeTo(9)]);
  });

  test("numerics 14: at the old policy the ratio is exactly 1, nothing is clipped, and the gradient is -w A", () => {
    fc.assert(
      fc.property(sequence, advantage, fc.constantFrom(...variants), (tokens, a, options) => {
        const now = tokens.map((token) => token.now);
        const { ratio, gradient, clipped } = losses(
          now,
          now,
          tokens.map(() => 0.5),
          a,
          options,
        );
        expect(Array.from(ratio)).toEqual(now.map(() => 1));
        expect(clipped).toBe(0);
        for (const slope of gradient) expect(slope).toBeCloseTo(-0.5 * a, 12);
      }),
    );
  });

  test("numerics 14, bfloat16: against a sampler in 16 bits the ratio stays within 1e-2 of 1 and nothing is clipped", () => {
    fc.assert(
      fc.property(sequence, advantage, fc.constantFrom(...variants), (tokens, a, options) => {
        // A log-probability below 2 is rounded by 2^-8 at most.
        const now = tokens.map((token) => token.now / 2.01);
        const { ratio, clipped } = losses(
          now,
          now.map(toBfloat16),
          tokens.map(() => 0.5),
          a,
          options,
        );
        for (const each of ratio) expect(Math.abs(each - 1)).toBeLessThan(1e-2);
        expect(clipped).toBe(0);
      }),
    );
  });

  test("asymmetric clipping holds what has moved too far in the rewarded direction only", () => {
    const slope = (ratio: number, a: number): number =>
      losses([Math.log(ratio)], [0], [1], a, clip).gradient[0] as number;
    expect([slope(1.27, 1), slope(1.29, 1), slope(0.5, 1)].map((s) => s !== 0)).toEqual([true, false, true]);
    expect([slope(0.81, -1), slope(0.79, -1), slope(1.5, -1)].map((s) => s !== 0)).toEqual([true, false, true]);
  });

  test("dual clip bounds the loss of a token with a negative advantage", () => {
    const { loss, gradient } = losses([0], [-5], [1], -1, { ...clip, dual_clip: 3 });
    expect([loss[0], gradient[0]]).toEqual([3, 0]);
  });

  test("numerics 60: where one token of an episode went to other experts, gspo's ratio moves by its share of the episode, and a token's own ratio leaves the clip", () => {
    const old = Array<number>(50).fill(-1);
    const now = old.with(20, -0.5);
    const weights = old.map(() => 1 / 50);
    const bounds = { ...clip, clip_low: 0.02, clip_high: 0.02 };
    expect(losses(now, old, weights, 1, bounds).clipped).toBe(1);
    const { loss, clipped } = losses(now, old, weights, 1, { ...bounds, policy_loss: "gspo" });
    expect([clipped, loss[0]]).toEqual([0, expect.closeTo(-Math.exp(0.5 / 50), 12)]);
  });

  test("numerics 20: log-ratios are cut before they are exponentiated", () => {
    const { ratio, gradient } = losses([0], [-1000], [1], -1, clip);
    expect(ratio[0]).toBeCloseTo(Math.exp(10), 6);
    expect(Number.isFinite(gradient[0])).toBe(true);
  });

  test("M11: beyond the cut of the exponent the loss is constant, and so its slope is 0 and the token counts as clipped", () => {
    for (const options of [clip, { ...clip, policy_loss: "gspo" as const }]) {
      for (const [old, a] of [
        [-10.01, -1],
        [10.01, 1],
      ] as const) {
        const value = (now: number): number => losses([now], [old], [1], a, options).loss[0] as number;
        const { gradient, clipped } = losses([0], [old], [1], a, options);
        expect([value(0.001) - value(0), Math.abs(gradient[0] as number), clipped]).toEqual([0, 0, 1]);
        expect(losses([0], [old * 0.99], [1], a, options).gradient[0]).not.toBeCloseTo(0, 12);
      }
    }
  });
});

describe("overlongPenalty", () => {
  test("numerics 34: nothing before the buffer, linear in it, the whole penalty from the limit on", () => {
    expect([70, 80, 90, 100, 120].map((tokens) => overlongPenalty(tokens, 100, 20, 1))).toEqual([-0, -0, -0.5, -1, -1]);
    expect(overlongPenalty(100, 100, 0, 1)).toBe(0);
  });
});
