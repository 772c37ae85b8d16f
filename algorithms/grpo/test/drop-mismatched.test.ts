import { expect, test } from "@jest/globals";
import type { Mean } from "@mrlm/kit/learning";
import type { Engine, Sampler } from "@mrlm/spec/host";
import { BigramEngine, recordingEngine, trainBigram } from "@mrlm/testing";
import { normalizerOf } from "../src/aggregation.ts";
import { dropMismatched } from "../src/drop-mismatched.ts";
import { grpo } from "../src/index.ts";
import { LossMetrics } from "../src/loss-metrics.ts";
import { unitLoss } from "../src/unit-loss.ts";
import { groupSample, options, sample } from "./support/groups.ts";

/** Three episodes: one of two rows, of which the second loses its token; one that loses all; one that keeps all. Old log-probabilities are -1. */
const group = groupSample(
  sample(
    1,
    [
      [0, 1, 1],
      [0, 1],
    ],
    [-1.5, -4, -4],
  ),
  sample(-1, [[0, 1]], [1]),
  sample(-1, [[0, 1, 1]], [-1, -0.5]),
);
const frozen = { old: Float32Array.from(Array(6).fill(-1)), reference: Float32Array.from({ length: 6 }, (_, t) => -t) };

test("M11: dropped tokens leave masks, rows, episodes and every denominator", () => {
  const { group: left, frozen: known, dropped } = dropMismatched(group, frozen, { mismatch_cap: 2 });
  expect(
    left.episodes.map(({ rows, sampled }) => [rows.map(({ mask }) => Array.from(mask)), Array.from(sampled)]),
  ).toEqual([
    [[[0, 1, 0]], [-1.5]],
    [[[0, 1, 1]], [-1, -0.5]],
  ]);
  expect([Array.from(known.old ?? []), Array.from(known.reference ?? [])]).toEqual([
    [-1, -1, -1],
    [-0, -4, -5],
  ]);
  expect(dropped).toEqual([-4, -4, 1].map((sampler) => ({ trainer: -1, sampler })));
  const normalizers = (of: typeof group) =>
    (["token_mean", "sequence_mean", "constant"] as const).map((kind) => normalizerOf([of], kind, 10));
  expect([normalizers(group), normalizers(left)]).toEqual([
    [6, 3, 30],
    [3, 2, 20],
  ]);
});

test("M11: mask keeps such tokens in the denominator with their other terms, drop does not; the surrogate's gradient of the rest differs by that factor alone", () => {
  const settings = (mismatch: "mask" | "drop") => options({ mismatch, kl_coefficient: 0.5 });
  const now = Float32Array.from({ length: 6 }, (_, t) => -1 - t / 100);
  const masked = unitLoss(group, frozen, { logprob: now }, settings("mask"), new LossMetrics(), true)
    .logprob as Float32Array;
  const { group: left, frozen: known } = dropMismatched(group, frozen, { mismatch_cap: 2 });
  const dropped = unitLoss(
    left,
    known,
    { logprob: Float32Array.of(...[0, 4, 5].map((t) => now[t] as number)) },
    settings("drop"),
    new LossMetrics(),
    true,
  ).logprob as Float32Array;
  expect(Array.from(dropped)).toEqual([0, 4, 5].map((t) => masked[t]));
  expect([1, 2, 3].every((t) => masked[t] !== 0)).toBe(true);
});

/** Returns an engine whose sampler reports every second token as e times less likely than it is. */
function disagreeing(): Engine {
  const inner = new BigramEngine();
  const sampler = async (model: string): Promise<Sampler> => {
    const own = await inner.sampler(model);
    const sample: Sampler["sample"] = async (...request) => {
      const result = await own.sample(...request);
      return { ...result, logprobs: result.logprobs.map((logprob, t) => logprob - (t % 2)) };
    };
    return { sample, barrier: () => own.barrier(), close: () => own.close() };
  };
  return new Proxy<Engine>(inner, {
    get: (target, name: keyof Engine) => (name === "sampler" ? sampler : target[name].bind(target)),
  });
}

test("M11: a run with mismatch: drop divides by what is left, and counts what is not, however many updates there are", async () => {
  for (const updates_per_step of [1, 2]) {
    const { engine, asked } = recordingEngine(disagreeing());
    const { reports } = await trainBigram({
      engine,
      algorithms: [grpo],
      stages: [
        {
          algorithm: "grpo",
          steps: 1,
          prompts_per_step: 4,
          group_size: 2,
          updates_per_step,
          mismatch: "drop",
          mismatch_cap: 2,
          learning_rate: 0.1,
        },
      ],
    });
    const corrected = reports[0]?.metrics["mismatch/corrected"] as Mean;
    const tokens = asked.passes.map(({ units }) =>
      units
        .flatMap(({ sequences }) => sequences)
        .reduce((sum, { mask }) => sum + mask.reduce((total, chosen) => total + chosen, 0), 0),
    );
    expect(asked.passes.map(({ normalizer }) => normalizer)).toEqual(tokens);
    expect(corrected.sum).toBeGreaterThan(0);
    expect(corrected.count - corrected.sum).toBe(tokens[0]);
  }
});
