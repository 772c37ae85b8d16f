import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { klEstimate, type KlEstimator, weightedKl } from "../src/learning/kl.ts";

const estimators: KlEstimator[] = ["k1", "k2", "k3"];
const logit = fc.double({ min: -1.5, max: 1.5, noNaN: true });
const policy = fc.tuple(logit, logit, logit, logit);

const softmax = (logits: readonly number[]): number[] => {
  const exps = logits.map(Math.exp);
  const total = exps.reduce((sum, e) => sum + e, 0);
  return exps.map((e) => e / total);
};

/** Gradient of E_q[f] with respect to the logits of π, where f's derivative with respect to log π(x) is `slope(x)`. */
const expectedGradient = (pi: number[], q: number[], slope: (x: number) => number): number[] =>
  pi.map((_, j) => q.reduce((sum, qx, x) => sum + qx * slope(x) * ((x === j ? 1 : 0) - (pi[j] as number)), 0));

/** d KL(π‖ref) / d logit_j = π_j (log(π_j/ref_j) - KL). */
const reverseKlGradient = (pi: number[], ref: number[]): number[] => {
  const kl = pi.reduce((sum, p, x) => sum + p * Math.log(p / (ref[x] as number)), 0);
  return pi.map((p, x) => p * (Math.log(p / (ref[x] as number)) - kl));
};

/** d KL(ref‖π) / d logit_j = π_j - ref_j. */
const forwardKlGradient = (pi: number[], ref: number[]): number[] => pi.map((p, x) => p - (ref[x] as number));

const expectClose = (one: number[], other: number[]): void => one.forEach((value, i) => expect(value).toBeCloseTo(other[i] as number, 9));

describe("KL estimators on an enumerable policy of four tokens", () => {
  test("numerics 24: on-policy, k1 has no gradient, k2 the reverse-KL gradient, k3 the forward-KL gradient", () => {
    fc.assert(
      fc.property(policy, policy, (logits, refLogits) => {
        const [pi, ref] = [softmax(logits), softmax(refLogits)];
        const slope = (estimator: KlEstimator) => (x: number) => klEstimate(estimator, Math.log(pi[x] as number), Math.log(ref[x] as number)).slope;
        expectClose(expectedGradient(pi, pi, slope("k1")), [0, 0, 0, 0]);
        expectClose(expectedGradient(pi, pi, slope("k2")), reverseKlGradient(pi, ref));
        expectClose(expectedGradient(pi, pi, slope("k3")), forwardKlGradient(pi, ref));
      }),
    );
  });

  test("numerics 25: weighed by the ratio, each estimator but k2 has the reverse-KL gradient off-policy too", () => {
    fc.assert(
      fc.property(policy, policy, policy, (logits, refLogits, oldLogits) => {
        const [pi, ref, old] = [softmax(logits), softmax(refLogits), softmax(oldLogits)];
        for (const estimator of ["k1", "k3"] as const) {
          const slope = (x: number): number => weightedKl(estimator, Math.log(pi[x] as number), Math.log(ref[x] as number), (pi[x] as number) / (old[x] as number)).slope;
          expectClose(expectedGradient(pi, old, slope), reverseKlGradient(pi, ref));
        }
      }),
    );
  });

  test.each(estimators)("the slope of %s is the finite difference of its value, weighed or not", (estimator) => {
    fc.assert(
      fc.property(fc.double({ min: -4, max: 0, noNaN: true }), fc.double({ min: -4, max: 0, noNaN: true }), fc.double({ min: -4, max: 0, noNaN: true }), (now, ref, old) => {
        const h = 1e-5;
        const plain = (klEstimate(estimator, now + h, ref).value - klEstimate(estimator, now - h, ref).value) / (2 * h);
        expect(klEstimate(estimator, now, ref).slope).toBeCloseTo(plain, 4);
        const weighted = (lp: number): number => weightedKl(estimator, lp, ref, Math.exp(lp - old)).value;
        const slope = weightedKl(estimator, now, ref, Math.exp(now - old)).slope;
        expect(Math.abs(slope - (weighted(now + h) - weighted(now - h)) / (2 * h))).toBeLessThan(1e-4 * (1 + Math.abs(slope)));
      }),
    );
  });

  test("numerics 14: the divergence from a reference that is the policy itself is exactly 0", () => {
    for (const estimator of estimators) expect(klEstimate(estimator, -1.25, -1.25).value).toBe(0);
  });
});
