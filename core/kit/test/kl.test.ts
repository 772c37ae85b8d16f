import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { klEstimate, type KlEstimator, weightedKl } from "../src/learning/kl.ts";
import { ratioOf } from "../src/learning/ratios.ts";

const estimators: KlEstimator[] = ["k1", "k2", "k3"];
const logit = fc.double({ min: -1.5, max: 1.5, noNaN: true });
const policy = fc.tuple(logit, logit, logit, logit);

const softmax = (logits: readonly number[]): number[] => {
  const exps = logits.map(Math.exp);
  const total = exps.reduce((sum, e) => sum + e, 0);
  return exps.map((e) => e / total);
};

/**
 * Returns the gradient of E_q[f] with respect to the logits of π, where f's derivative with respect to log π(x) is
 * `slope(x)`.
 */
const expectedGradient = (pi: number[], q: number[], slope: (x: number) => number): number[] =>
  pi.map((_, j) => q.reduce((sum, qx, x) => sum + qx * slope(x) * ((x === j ? 1 : 0) - (pi[j] as number)), 0));

/** Returns d KL(π‖ref) / d logit_j = π_j (log(π_j/ref_j) - KL). */
const reverseKlGradient = (pi: number[], ref: number[]): number[] => {
  const kl = pi.reduce((sum, p, x) => sum + p * Math.log(p / (ref[x] as number)), 0);
  return pi.map((p, x) => p * (Math.log(p / (ref[x] as number)) - kl));
};

/** Returns d KL(ref‖π) / d logit_j = π_j - ref_j. */
const forwardKlGradient = (pi: number[], ref: number[]): number[] => pi.map((p, x) => p - (ref[x] as number));

const expectClose = (one: number[], other: number[]): void =>
  one.forEach((value, i) => expect(value).toBeCloseTo(other[i] as number, 9));

describe("KL estimators on an enumerable policy of four tokens", () => {
  test("numerics 24: on-policy, k1 has no gradient, k2 the reverse-KL gradient, k3 the forward-KL gradient", () => {
    fc.assert(
      fc.property(policy, policy, (logits, refLogits) => {
        const [pi, ref] = [softmax(logits), softmax(refLogits)];
        const slope = (estimator: KlEstimator) => (x: number) =>
          klEstimate(estimator, Math.log(pi[x] as number), Math.log(ref[x] as number)).slope;
        expectClose(expectedGradient(pi, pi, slope("k1")), [0, 0, 0, 0]);
        expectClose(expectedGradient(pi, pi, slope("k2")), reverseKlGradient(pi, ref));
        expectClose(expectedGradient(pi, pi, slope("k3")), forwardKlGradient(pi, ref));
      }),
    );
  });

  test("numerics 25: M11: weighed by the ratio, each estimator has the reverse-KL gradient off-policy too", () => {
    fc.assert(
      fc.property(policy, policy, policy, (logits, refLogits, oldLogits) => {
        const [pi, ref, old] = [softmax(logits), softmax(refLogits), softmax(oldLogits)];
        for (const estimator of estimators) {
          const slope = (x: number): number =>
            weightedKl(estimator, Math.log(pi[x] as number), Math.log(ref[x] as number), Math.log(old[x] as number))
              .slope;
          expectClose(expectedGradient(pi, old, slope), reverseKlGradient(pi, ref));
        }
      }),
    );
  });

  test.each(estimators)(
    "M11: the slope of %s is the finite difference of its value, weighed or not, within the cut of the exponent and beyond it",
    (estimator) => {
      const logprob = fc.oneof(
        fc.double({ min: -4, max: 0, noNaN: true }),
        fc.double({ min: -40, max: 0, noNaN: true }),
      );
      fc.assert(
        fc.property(logprob, logprob, logprob, (now, ref, old) => {
          const h = 1e-5;
          // The value is not differentiable at the limit.
          for (const other of [ref, old]) fc.pre(Math.abs(Math.abs(now - other) - 10) > 2 * h);
          const difference = (value: (logprob: number) => number): number =>
            (value(now + h) - value(now - h)) / (2 * h);
          const expectSlope = (slope: number, expected: number): void =>
            expect(Math.abs(slope - expected)).toBeLessThan(1e-4 * (1 + Math.abs(slope)));
          expectSlope(
            klEstimate(estimator, now, ref).slope,
            difference((each) => klEstimate(estimator, each, ref).value),
          );
          // The ratio that weighs k2 is a constant.
          const weighted = (each: number): number =>
            estimator === "k2"
              ? ratioOf(now, old) * klEstimate("k2", each, ref).value
              : weightedKl(estimator, each, ref, old).value;
          expectSlope(weightedKl(estimator, now, ref, old).slope, difference(weighted));
        }),
      );
    },
  );

  test("numerics 14: the divergence from a reference that is the policy itself is exactly 0", () => {
    for (const estimator of estimators) expect(klEstimate(estimator, -1.25, -1.25).value).toBe(0);
  });
});
