import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { assertWholeDistribution, epochOrder, minibatches } from "../src/learning.ts";
import { learningRateAt } from "../src/learning/optimizer-options.ts";

describe("learningRateAt", () => {
  const base = { peak: 1, warmupSteps: 4, totalSteps: 12 } as const;

  test("numerics 57: warm-up counts optimizer steps and reaches the peak on its last", () => {
    expect([1, 2, 3, 4].map((step) => learningRateAt(step, { ...base, kind: "constant" }))).toEqual([
      0.25, 0.5, 0.75, 1,
    ]);
  });

  test("schedules fall from the peak in equal parts and would reach their floor on the step after the last", () => {
    const rates = (steps: readonly number[], schedule: object): number[] =>
      steps.map((step) => learningRateAt(step, { ...base, kind: "linear", ...schedule }));
    expect(rates([4, 12], { kind: "constant" })).toEqual([1, 1]);
    for (const [i, rate] of rates([4, 5, 6, 12, 13, 14], { floor: 0.1 }).entries())
      expect(rate).toBeCloseTo([1, 0.9, 0.8, 0.2, 0.1, 0.1][i] as number, 12);
    expect(rates([1, 2, 3, 4], { warmupSteps: 0, totalSteps: 4 })).toEqual([1, 0.75, 0.5, 0.25]);
    expect(learningRateAt(3, { peak: 1, warmupSteps: 0, totalSteps: 4, kind: "cosine" })).toBeCloseTo(0.5, 12);
  });

  test("M11: no step of a schedule has rate 0, one that is the only step the least", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("linear" as const, "cosine" as const),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 20 }),
        (kind, totalSteps, warmupSteps) => {
          const rates = Array.from({ length: totalSteps }, (_, i) =>
            learningRateAt(i + 1, { peak: 1, warmupSteps, totalSteps, kind }),
          );
          expect(Math.min(...rates)).toBeGreaterThan(0);
          if (totalSteps > warmupSteps) expect(Math.max(...rates)).toBe(1);
        },
      ),
    );
    expect(learningRateAt(1, { peak: 1, warmupSteps: 0, totalSteps: 1, kind: "linear" })).toBe(1);
  });
});

describe("epochOrder", () => {
  test.each([1, 7, 100, 100_003])("an epoch of %i rows visits each once", (size) => {
    const seen = new Uint8Array(size);
    for (const index of epochOrder(size, "rows", 1).take(size)) seen[index]!++;
    expect(seen.every((count) => count === 1)).toBe(true);
  });

  test("epochs differ, seeds differ, and the position is the whole state", () => {
    const order = epochOrder(50, "rows", 1);
    const [first, second] = [order.take(50), order.take(50)];
    expect(first).not.toEqual(second);
    expect(epochOrder(50, "rows", 2).take(50)).not.toEqual(first);
    fc.assert(
      fc.property(fc.nat(120), (position) => {
        const resumed = epochOrder(50, "rows", 1);
        resumed.seek(position);
        expect(resumed.take(5)).toEqual(
          epochOrder(50, "rows", 1)
            .take(position + 5)
            .slice(position),
        );
      }),
    );
  });
});

test("minibatches hold every item once, in order, and differ by one at most", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (items, parts) => {
      const runs = minibatches(items, parts);
      const sizes = runs.map((run) => run.length);
      expect(runs.flat()).toEqual(items);
      expect(runs.length).toBe(Math.min(items.length, parts));
      expect(Math.max(0, ...sizes) - Math.min(...sizes, Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(1);
    }),
  );
});

test("M7: a minimal number of tokens forbids stop tokens, and is refused for training", () => {
  const sampling = { temperature: 1, maxTokens: 8 };
  for (const minTokens of [undefined, 0])
    expect(() =>
      assertWholeDistribution({ ...sampling, ...(minTokens === undefined ? {} : { minTokens }) }),
    ).not.toThrow();
  expect(() => assertWholeDistribution({ ...sampling, minTokens: 1 })).toThrow(/min_tokens \(1\) forbids stop tokens/);
});

test("sampling from a truncated distribution is refused for training", () => {
  const sampling = { temperature: 1, maxTokens: 8 };
  for (const whole of [{}, { topP: 1 }, { topK: 0 }])
    expect(() => assertWholeDistribution({ ...sampling, ...whole })).not.toThrow();
  for (const cut of [{ topP: 0.9 }, { topK: 5 }])
    expect(() => assertWholeDistribution({ ...sampling, ...cut })).toThrow("cuts the distribution");
});
