import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { FrozenEpisode } from "../src/frozen-batch.ts";
import { PpoMetrics } from "../src/metrics.ts";
import { policyGradients } from "../src/policy-loss.ts";
import { options } from "./support/episodes.ts";

const logprob = fc.double({ min: -3, max: -0.1, noNaN: true });
const token = fc.record({
  now: logprob,
  old: logprob,
  reference: logprob,
  advantage: fc.double({ min: -2, max: 2, noNaN: true }),
});

test("numerics 7: metrics are sums over all tokens with their count: how far the policy has moved, its ratio, what a clip holds, the mismatch", () => {
  const exact = (...values: number[]): Float32Array => Float64Array.from(values) as unknown as Float32Array;
  const metrics = new PpoMetrics();
  // Ratios 2 and 1/2 in two units; the second token's advantage is negative, so that its clip holds it.
  for (const [now, advantage] of [
    [-1 + Math.LN2, 1],
    [-1 - Math.LN2, -1],
    [-1, 3],
  ] as const) {
    const episode = {
      sampled: exact(-1.25),
      old: exact(-1),
      advantages: Float64Array.of(advantage),
    } as unknown as FrozenEpisode;
    policyGradients([episode], { logprob: exact(now) }, options({ clip_low: 0.2, clip_high: 0.2 }), 0, metrics);
  }
  const mean = (sum: number) => ({ sum: expect.closeTo(sum, 9), count: 3 });
  expect(metrics.report()).toMatchObject({
    // -1.2, 0.8 and -3.
    "loss/policy": mean(-3.4),
    "ratio/mean": mean(2 + 0.5 + 1),
    "clip/fraction": mean(2),
    // k3 of the old policy against the present one, r - 1 - log r.
    "kl/old": mean(2 - 1 - Math.LN2 + (0.5 - 1 + Math.LN2)),
    "mismatch/max": expect.closeTo(0.25, 9),
  });
});

test("the policy's gradient is the finite difference of its loss: surrogate, divergence (but k2, whose ratio is a constant) and entropy", () => {
  fc.assert(
    fc.property(
      fc.array(token, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("k1" as const, "k3" as const),
      (tokens, kl_estimator) => {
        // Use float64 instead of float32, so that finite differences are exact enough.
        const exact = (values: number[]): Float32Array => Float64Array.from(values) as unknown as Float32Array;
        const column = (name: keyof (typeof tokens)[number]): number[] => tokens.map((each) => each[name]);
        const episode = {
          sampled: exact(column("old")),
          old: exact(column("old")),
          reference: exact(column("reference")),
          advantages: Float64Array.from(column("advantage")),
        } as unknown as FrozenEpisode;
        const settings = options({
          kl_estimator,
          kl_placement: "loss",
          entropy_coefficient: 0.2,
          clip_low: 0.5,
          clip_high: 0.5,
        });
        const evaluate = (now: number[]) => {
          const metrics = new PpoMetrics();
          const gradients = policyGradients(
            [episode],
            { logprob: exact(now), entropy: exact(now.map(() => 1)) },
            settings,
            0.3,
            metrics,
          );
          const report = metrics.report() as Record<string, { sum: number }>;
          return { gradients, loss: (report["loss/policy"]?.sum ?? 0) + (report["loss/kl"]?.sum ?? 0) };
        };
        const now = column("now");
        const { gradients } = evaluate(now);
        for (const t of now.keys()) {
          const h = 1e-6;
          const moved = (by: number): number => evaluate(now.with(t, (now[t] as number) + by)).loss;
          const slope = gradients.logprob?.[t] as number;
          const sides = [(moved(0) - moved(-h)) / h, (moved(h) - moved(0)) / h];
          // At a kink of the clip the two sides differ and the gradient is either.
          expect(Math.min(...sides.map((side) => Math.abs(side - slope)))).toBeLessThan(2e-3 * (1 + Math.abs(slope)));
        }
        expect(Array.from(gradients.entropy ?? [])).toEqual(now.map(() => expect.closeTo(-0.2, 6)));
      },
    ),
    { numRuns: 100 },
  );
});
