import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  betaCdf,
  decayed,
  meanOf,
  NO_EVIDENCE,
  placementOf,
  posteriorOf,
  priorOf,
} from "../src/play/curriculum/pass-rate.ts";

/** Probability that at least `a` of a + b - 1 trials succeed, which is the distribution function of Beta(a, b) at x for whole a and b. */
function binomialTail(x: number, a: number, b: number): number {
  const n = a + b - 1;
  let [sum, choose] = [0, 1];
  for (let j = 0; j <= n; j++) {
    if (j >= a) sum += choose * x ** j * (1 - x) ** (n - j);
    choose *= (n - j) / (j + 1);
  }
  return sum;
}

/** The posterior of Bayes' rule over a grid: the prior's density times the likelihood of each episode, weighed by the exponent of its age. */
function enumerated(prior: number, episodes: readonly (readonly [rate: number, weight: number])[]): number[] {
  const cells = 20_000;
  const logs = Array.from({ length: cells }, (_, i) => {
    const p = (i + 0.5) / cells;
    const likelihood = episodes.reduce(
      (sum, [rate, weight]) => sum + weight * (rate * Math.log(p) + (1 - rate) * Math.log1p(-p)),
      0,
    );
    return (3 * prior - 1) * Math.log(p) + (3 * (1 - prior) - 1) * Math.log1p(-p) + likelihood;
  });
  const largest = Math.max(...logs);
  const densities = logs.map((log) => Math.exp(log - largest));
  const total = densities.reduce((sum, each) => sum + each, 0);
  return densities.map((density) => density / total);
}

describe("pass rates", () => {
  test("the distribution function is that of enumerated binomial trials", () => {
    for (const x of [0.01, 0.1, 0.37, 0.5, 0.9, 0.999])
      for (const a of [1, 2, 5, 17, 60])
        for (const b of [1, 3, 8, 40]) expect(Math.abs(betaCdf(x, a, b) - binomialTail(x, a, b))).toBeLessThan(1e-12);
    expect([betaCdf(0, 2, 3), betaCdf(1, 2, 3)]).toEqual([0, 1]);
    // Beta(1/2, 1/2): 2/π arcsin(√x).
    for (const x of [1e-6, 0.2, 0.8])
      expect(Math.abs(betaCdf(x, 0.5, 0.5) - (2 / Math.PI) * Math.asin(Math.sqrt(x)))).toBeLessThan(1e-12);
  });

  test("the distribution function of any parameters: both tails add up to 1, and it satisfies the recurrence", () => {
    const parameter = fc.double({ min: 1e-3, max: 500, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }), parameter, parameter, (x, a, b) => {
        const cdf = betaCdf(x, a, b);
        expect(cdf + betaCdf(1 - x, b, a)).toBeCloseTo(1, 9);
        // x I(a, b + 1) + (1 - x) I(a + 1, b) is not I(a, b); DLMF 8.17.18 has a I(a + 1, b) + b I(a, b + 1) = (a + b) I(a, b).
        expect((a * betaCdf(x, a + 1, b) + b * betaCdf(x, a, b + 1)) / (a + b)).toBeCloseTo(cdf, 9);
      }),
    );
  });

  test("posterior with decay: mean and places are those of Bayes' rule over a grid", () => {
    const [halfLife, now] = [3, 12];
    for (const prior of [0.5, 0.7]) {
      const measured = [
        { rates: [1, 0, 1, 1], at: 2 },
        { rates: [1, 0.25, 0, 1], at: 7 },
        { rates: [0, 1, 1, 0.5], at: 12 },
      ];
      let evidence = NO_EVIDENCE;
      for (const { rates, at } of measured) {
        const before = decayed(evidence, at, halfLife);
        const sum = rates.reduce((total, rate) => total + rate, 0);
        evidence = { passes: before.passes + sum, trials: before.trials + rates.length, at };
      }
      const grid = enumerated(
        prior,
        measured.flatMap(({ rates, at }) => rates.map((rate) => [rate, 2 ** ((at - now) / halfLife)] as const)),
      );
      const p = grid.map((_, i) => (i + 0.5) / grid.length);
      const massWhere = (holds: (rate: number) => boolean): number =>
        grid.reduce((sum, mass, i) => (holds(p[i] as number) ? sum + mass : sum), 0);
      const posterior = posteriorOf(decayed(evidence, now, halfLife), { mean: prior, strength: 3 });
      const { hard, active, easy } = placementOf(posterior, [0.1, 0.6]);
      expect(meanOf(posterior)).toBeCloseTo(
        grid.reduce((sum, mass, i) => sum + mass * (p[i] as number), 0),
        6,
      );
      expect(hard).toBeCloseTo(
        massWhere((rate) => rate < 0.1),
        6,
      );
      expect(easy).toBeCloseTo(
        massWhere((rate) => rate > 0.6),
        6,
      );
      expect(hard + active + easy).toBeCloseTo(1, 12);
    }
  });

  test("the prior of a level has the mean of its tasks: a task that is drawn more often weighs no more, one without evidence nothing", () => {
    const task = (passes: number, trials: number) => ({ passes, trials, at: 0 });
    expect(priorOf([], 0, 1)).toEqual({ mean: 0.5, strength: expect.closeTo(2, 12) });
    expect(priorOf([task(80, 80), task(0, 8), task(0, 0)], 0, 1).mean).toBeCloseTo((0.5 + 1 + 0) / 3, 12);
    expect(priorOf([task(0.5, 1)], 3, 3).mean).toBeCloseTo((0.5 + 0.5 * 0.5) / 1.5, 12);
  });

  test("the strength of a prior is that of the beta-binomial distribution whose outcomes are enumerated", () => {
    const [trials, copies] = [6, 200_000];
    for (const [a, b] of [
      [0.2, 0.3],
      [2, 2],
      [3, 9],
    ] as const) {
      // P(k) by the recurrence of its terms.
      const terms = [1];
      for (let k = 0; k < trials; k++)
        terms.push(((terms[k] as number) * (trials - k) * (a + k)) / ((k + 1) * (b + trials - k - 1)));
      const total = terms.reduce((sum, term) => sum + term, 0);
      const tasks = terms.flatMap((term, k) =>
        Array.from({ length: Math.round((copies * term) / total) }, () => ({ passes: k, trials, at: 0 })),
      );
      const { mean, strength } = priorOf(tasks, 0, 1);
      expect(mean).toBeCloseTo(a / (a + b), 4);
      expect(strength / (a + b)).toBeCloseTo(1, 3);
    }
  });
});
