import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { LossMetrics } from "../src/loss-metrics.ts";
import type { GrpoOptions } from "../src/options.ts";
import { unitLoss } from "../src/unit-loss.ts";
import { groupSample, options, sample } from "./support/groups.ts";

const logprob = fc.double({ min: -3, max: -0.1, noNaN: true });
const token = fc.record({
  now: logprob,
  old: logprob,
  sampler: logprob,
  reference: logprob,
  entropy: fc.double({ min: 0, max: 2, noNaN: true }),
});
const choices = fc.record({
  policy_loss: fc.constantFrom("clip" as const, "gspo" as const),
  aggregation: fc.constantFrom("token_mean" as const, "sequence_mean" as const, "constant" as const),
  mismatch: fc.constantFrom("none" as const, "truncate" as const, "mask" as const),
  mismatch_level: fc.constantFrom("token" as const, "sequence" as const, "geometric" as const),
  // k2 weighed by the ratio is no case: there the ratio is a constant to the gradient.
  kl: fc.constantFrom(
    ["k1", true] as const,
    ["k3", true] as const,
    ["k1", false] as const,
    ["k2", false] as const,
    ["k3", false] as const,
  ),
});

describe("unitLoss", () => {
  test("the gradient is the finite difference of the whole loss: surrogate, mismatch, divergence and entropy together", () => {
    fc.assert(
      fc.property(
        fc.array(token, { minLength: 3, maxLength: 6 }),
        fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.double({ min: -2, max: 2, noNaN: true })),
        choices,
        (tokens, [first, second], { kl: [kl_estimator, kl_importance], ...chosen }) => {
          const settings: GrpoOptions = options({
            ...chosen,
            kl_estimator,
            kl_importance,
            kl_coefficient: 0.3,
            entropy_coefficient: 0.2,
            clip_low: 0.5,
            clip_high: 0.5,
          });
          const column = (name: keyof (typeof tokens)[number]): number[] => tokens.map((each) => each[name]);
          const unit = groupSample(
            sample(first, [[0, 1, 1]], column("sampler").slice(0, 2)),
            sample(second, [[0, ...tokens.slice(2).map(() => 1)]], column("sampler").slice(2)),
          );
          // Use float64 instead of float32, so that finite differences are exact enough.
          const exact = (values: number[]): Float32Array => Float64Array.from(values) as unknown as Float32Array;
          const frozen = { old: exact(column("old")), reference: exact(column("reference")) };
          const evaluate = (now: number[], entropy = column("entropy")) => {
            const metrics = new LossMetrics();
            const gradients = unitLoss(
              unit,
              frozen,
              { logprob: exact(now), entropy: exact(entropy) },
              settings,
              metrics,
              false,
            );
            const report = metrics.report(1) as Record<string, { sum: number }>;
            return { gradients, loss: (report["loss/policy"]?.sum ?? 0) + (report["loss/kl"]?.sum ?? 0) };
          };
          const now = column("now");
          const { gradients } = evaluate(now);
          for (const t of now.keys()) {
            const h = 1e-6;
            const moved = (by: number): number => evaluate(now.with(t, (now[t] as number) + by)).loss;
            const [left, right] = [(moved(0) - moved(-h)) / h, (moved(h) - moved(0)) / h];
            const slope = gradients.logprob?.[t] as number;
            // At a kink of the clip the two sides differ and the gradient is either.
            expect(Math.min(Math.abs(left - slope), Math.abs(right - slope))).toBeLessThan(
              2e-3 * (1 + Math.abs(slope)),
            );
          }
          const weight = (t: number): number =>
            chosen.aggregation === "sequence_mean" ? 1 / (t < 2 ? 2 : tokens.length - 2) : 1;
          expect(Array.from(gradients.entropy ?? [], (slope, t) => slope / weight(t))).toEqual(
            tokens.map(() => expect.closeTo(-0.2, 6)),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("numerics 9: a group without signal still feels the divergence from the reference, and nothing else", () => {
    const unit = groupSample(sample(0, [[0, 1]]), sample(0, [[0, 1]]));
    const outputs = { logprob: Float32Array.of(-1, -2) };
    const pure = unitLoss(unit, {}, outputs, options(), new LossMetrics(), true);
    expect(Array.from(pure.logprob ?? [], Math.abs)).toEqual([0, 0]);
    const held = unitLoss(
      unit,
      { reference: Float32Array.of(-1, -1) },
      outputs,
      options({ kl_coefficient: 1, kl_estimator: "k2", kl_importance: false }),
      new LossMetrics(),
      true,
    );
    expect(Array.from(held.logprob ?? [])).toEqual([expect.closeTo(0), -1]);
  });

  test("numerics 17: the gradient of each token is weighed by trainer against sampler, within its bounds", () => {
    const trainer = Float32Array.of(-1, -1, -1, -1);
    // π_trainer / π_sampler of 1, 1.5, e² and e^-2.
    const group = groupSample(sample(1, [[0, 1, 1, 1, 1]], [-1, -1 - Math.log(1.5), -3, 1]));
    const slopes = (mismatch: GrpoOptions["mismatch"]) =>
      Array.from(
        unitLoss(group, {}, { logprob: trainer }, options({ mismatch, mismatch_cap: 2 }), new LossMetrics(), true)
          .logprob ?? [],
      );
    const close = (values: number[]) => values.map((value) => expect.closeTo(value, 5));
    expect(slopes("none")).toEqual(close([-1, -1, -1, -1]));
    expect(slopes("truncate")).toEqual(close([-1, -1.5, -2, -Math.exp(-2)]));
    expect(slopes("mask")).toEqual(close([-1, -1.5, 0, 0]));
  });

  test("numerics 17: corrected tokens are counted and the largest difference is reported", () => {
    const metrics = new LossMetrics();
    unitLoss(
      groupSample(sample(1, [[0, 1, 1]], [-3, -1])),
      {},
      { logprob: Float32Array.of(-1, -1) },
      options({ mismatch: "truncate", mismatch_cap: 2 }),
      metrics,
      true,
    );
    expect(metrics.report(1)).toMatchObject({ "mismatch/corrected": { sum: 1, count: 2 }, "mismatch/max": 2 });
  });
});
