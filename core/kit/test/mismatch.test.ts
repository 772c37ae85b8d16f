import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { MismatchMetrics, mismatchWeight, mismatchWeights } from "../src/learning.ts";

const logprob = fc.double({ min: -4, max: -0.01, noNaN: true });

describe("mismatchWeight", () => {
  test("numerics 17: truncated weights are bounded, masked ones vanish outside the band", () => {
    fc.assert(
      fc.property(logprob, logprob, (trainer, sampler) => {
        const exact = Math.exp(trainer - sampler);
        expect(mismatchWeight("none", 2, trainer, sampler)).toBe(1);
        expect(mismatchWeight("truncate", 2, trainer, sampler)).toBeCloseTo(Math.min(exact, 2), 9);
        expect(mismatchWeight("mask", 2, trainer, sampler)).toBeCloseTo(exact <= 2 && exact >= 0.5 ? exact : 0, 9);
      }),
    );
  });
});

describe("mismatchWeights", () => {
  const episode = fc.array(fc.tuple(logprob, logprob), { minLength: 1, maxLength: 6 });

  test.each([
    ["sequence", (ratios: number[]) => ratios.reduce((product, ratio) => product * ratio, 1)],
    ["geometric", (ratios: number[]) => ratios.reduce((product, ratio) => product * ratio, 1) ** (1 / ratios.length)],
  ] as const)("numerics 17: level %s has one weight for all tokens of an episode", (mismatch_level, shared) => {
    fc.assert(
      fc.property(episode, fc.constantFrom("none", "truncate", "mask"), (tokens, mismatch) => {
        const column = (index: 0 | 1): Float32Array => Float32Array.from(tokens, (each) => each[index]);
        const [trainer, sampler] = [column(0), column(1)];
        const exact = shared(Array.from(trainer, (each, t) => Math.exp(each - (sampler[t] as number))));
        const options = { mismatch, mismatch_cap: 3, mismatch_floor: 0.5, mismatch_level } as const;
        const { ratios, weights } = mismatchWeights(options, trainer, sampler);
        const masked = exact <= 3 && exact >= 0.5 ? exact : 0;
        const wanted = { none: 1, truncate: Math.min(exact, 3), mask: masked }[mismatch];
        // Weights at a bound may fall to either side of it.
        fc.pre(Math.abs(exact - 3) > 1e-9 && Math.abs(exact - 0.5) > 1e-9 && exact < 1e6);
        for (const t of tokens.keys()) {
          expect((ratios[t] as number) / exact).toBeCloseTo(1, 6);
          expect(weights[t]).toBeCloseTo(wanted, 6);
        }
      }),
    );
  });

  test("the effective sample size is 1 for equal weights, and 1 / n where one of n outweighs the others", () => {
    const essOf = (ratios: readonly number[]): unknown => {
      const metrics = new MismatchMetrics(true);
      for (const ratio of ratios) metrics.add(0, 0, ratio, Math.min(ratio, 2));
      return metrics.report();
    };
    expect(essOf([3, 3, 3])).toMatchObject({ "offpolicy/ess": 1, "offpolicy/truncated": { sum: 3, count: 3 } });
    expect(essOf([1e9, 0, 0, 0])).toMatchObject({ "offpolicy/ess": 0.25, "offpolicy/ratio_max": 1e9 });
    expect(new MismatchMetrics(false).report()).not.toHaveProperty("offpolicy/ess");
  });
});
