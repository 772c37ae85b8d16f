import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { toEpisodes } from "../src/batch.ts";
import { FrozenBatch, type FrozenEpisode } from "../src/frozen-batch.ts";
import type { PpoOptions } from "../src/options.ts";
import { PpoMetrics } from "../src/metrics.ts";
import { policyGradients } from "../src/policy-loss.ts";
import { episode, group, options, segment, turn } from "./support/episodes.ts";

const logprob = fc.double({ min: -3, max: -0.1, noNaN: true });
const token = fc.record({
  now: logprob,
  old: logprob,
  reference: logprob,
  advantage: fc.double({ min: -2, max: 2, noNaN: true }),
  weight: fc.constantFrom(0, 0.5, 1, 2),
});

test("numerics 7: metrics are sums over all tokens with their count: how far the policy has moved, its ratio, what a clip holds", () => {
  const exact = (...values: number[]): Float32Array => Float64Array.from(values) as unknown as Float32Array;
  const metrics = new PpoMetrics();
  // Ratios 2 and 1/2 in two units; the second token's advantage is negative, so that its clip holds it.
  for (const [now, advantage] of [
    [-1 + Math.LN2, 1],
    [-1 - Math.LN2, -1],
    [-1, 3],
  ] as const) {
    const episode = {
      sampled: exact(-1),
      old: exact(-1),
      weights: Float64Array.of(1),
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
  });
});

test("the policy's gradient is the finite difference of its loss: surrogate with importance weights, divergence (but k2, whose ratio is a constant) and entropy", () => {
  fc.assert(
    fc.property(
      fc.array(token, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("k1" as const, "k3" as const),
      fc.constantFrom("mask" as const, "drop" as const),
      (tokens, kl_estimator, mismatch) => {
        // Use float64 instead of float32, so that finite differences are exact enough.
        const exact = (values: number[]): Float32Array => Float64Array.from(values) as unknown as Float32Array;
        const column = (name: keyof (typeof tokens)[number]): number[] => tokens.map((each) => each[name]);
        const episode = {
          sampled: exact(column("old")),
          weights: Float64Array.from(column("weight")),
          old: exact(column("old")),
          reference: exact(column("reference")),
          advantages: Float64Array.from(column("advantage")),
        } as unknown as FrozenEpisode;
        const settings = options({
          mismatch,
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
        expect(Array.from(gradients.entropy ?? [])).toEqual(
          tokens.map(({ weight }) => expect.closeTo(mismatch === "drop" && weight === 0 ? 0 : -0.2, 6)),
        );
      },
    ),
    { numRuns: 100 },
  );
});

describe("decoupled PPO: the proximal policy bounds the step, the behaviour policy weighs the token", () => {
  /** Three tokens with advantages 1, -1, 3. Proximal log-probabilities are -1; the policy that played had e^-1.5, e^-1 and e^-4. */
  const frozen = (changes: Partial<PpoOptions>): FrozenBatch => {
    const settings = options({ whiten_advantages: false, gae_lambda: 0, entropy_coefficient: 0.1, ...changes });
    const trajectory = episode(
      [{ ...segment([0, 1, 1, 1]), logprobs: Float32Array.of(0, -1.5, -1, -4) }],
      [turn(1, 2, 1), turn(2, 3, -1), turn(3, 4, 3)],
    );
    const batch = new FrozenBatch(toEpisodes([group(trajectory)], settings, "policy").groups, settings, 0);
    batch.freezeLogprobs(0, Float32Array.of(-1, -1, -1));
    batch.freezeValues(0, { value: new Float32Array(3) });
    return batch;
  };
  /** The gradient where the policy has moved by a ratio of 1.1 within the clip, but at the third token, which the clip holds at a ratio of 2. */
  const gradientsOf = (changes: Partial<PpoOptions>) => {
    const batch = frozen(changes);
    const logprob = Float32Array.of(-1 + Math.log(1.1), -1 + Math.log(1.1), -1 + Math.LN2);
    const outputs = { logprob, entropy: new Float32Array(3) };
    const settings = options({ entropy_coefficient: 0.1, ...changes });
    const found = policyGradients(batch.episodes(0), outputs, settings, 0, new PpoMetrics(), batch.perKept([0]));
    return { logprob: Array.from(found.logprob ?? []), entropy: Array.from(found.entropy ?? []) };
  };
  const near = (...values: number[]): unknown[] => values.map((value) => expect.closeTo(value, 5));
  const weights = [Math.exp(0.5), 1, Math.exp(3)] as const;

  test.each<[string, Partial<PpoOptions>, [number, number], number]>([
    ["none", {}, [1, 1], 3],
    ["truncate", { mismatch: "truncate", mismatch_cap: 1.2 }, [1.2, 1], 3],
    ["mask", { mismatch: "mask", mismatch_cap: 2 }, [weights[0], 1], 3],
    ["mask, cap 1.5", { mismatch: "mask", mismatch_cap: 1.5 }, [0, 1], 3],
    ["sequence", { mismatch: "truncate", mismatch_cap: 20, mismatch_level: "sequence" }, [20, 20], 3],
    [
      "geometric",
      { mismatch: "truncate", mismatch_cap: 20, mismatch_level: "geometric" },
      [Math.exp(3.5 / 3), Math.exp(3.5 / 3)],
      3,
    ],
    ["drop", { mismatch: "drop", mismatch_cap: 2 }, [weights[0], 1], 2],
  ])("%s", (_, changes, [first, second], kept) => {
    const { logprob, entropy } = gradientsOf(changes);
    // Means over the kept tokens: the engine divides by 3.
    const scale = 3 / kept;
    expect(logprob).toEqual(near(-1.1 * first * scale, 1.1 * second * scale, 0));
    expect(entropy).toEqual(near(-0.1 * scale, -0.1 * scale, kept === 3 ? -0.1 : 0));
  });

  test("the comparison of the two has each token once, with their effective sample size", () => {
    const [sum, squares] = [0, 0].map((_, i) => weights.reduce((total, weight) => total + weight ** (i + 1), 0)) as [
      number,
      number,
    ];
    expect(frozen({ mismatch: "truncate", mismatch_cap: 1.2 }).mismatch()).toMatchObject({
      "mismatch/max": expect.closeTo(3, 6),
      "mismatch/corrected": { sum: 2, count: 3 },
      "offpolicy/ess": expect.closeTo(sum ** 2 / (3 * squares), 6),
      "offpolicy/ratio_max": expect.closeTo(weights[2], 4),
      "offpolicy/truncated": { sum: 2, count: 3 },
    });
    expect(frozen({}).mismatch()).not.toHaveProperty("offpolicy/ess");
  });

  test("with old_policy: sampler the ratio is against the policy that played, whose distance is measured", () => {
    const batch = frozen({ old_policy: "sampler" });
    expect(Array.from(batch.episodes(0)[0]?.old ?? [])).toEqual([-1.5, -1, -4]);
    expect(batch.mismatch()).toMatchObject({ "mismatch/max": 3, "mismatch/corrected": { sum: 0, count: 3 } });
  });
});
