import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { IterationReport, JsonObject } from "@mrlm/spec";
import { installed } from "./support/real-engine.ts";
import { type Kind, meanOf, plainSteps, type Played, Updates } from "./support/updates.ts";

const batch = { ...plainSteps(2), prompts_per_step: 4, group_size: 4 };
const grpoCases: Record<string, JsonObject> = {
  "one update": batch,
  "two updates with divergence and entropy": {
    ...batch,
    updates_per_step: 2,
    kl_coefficient: 0.5,
    kl_estimator: "k3",
    entropy_coefficient: 0.05,
    clip_low: 0.05,
    clip_high: 0.05,
  },
  "k2 as a loss, without its weight": {
    ...batch,
    updates_per_step: 2,
    kl_coefficient: 0.5,
    kl_estimator: "k2",
    kl_importance: false,
  },
  "leave-one-out, sequence mean": {
    ...batch,
    updates_per_step: 2,
    baseline: "leave_one_out",
    aggregation: "sequence_mean",
  },
  "gspo with std": {
    ...batch,
    updates_per_step: 2,
    policy_loss: "gspo",
    scale: "group_std",
    aggregation: "sequence_mean",
    clip_low: 0.01,
    clip_high: 0.01,
  },
  "cispo, constant": { ...batch, updates_per_step: 2, policy_loss: "cispo", aggregation: "constant", clip_high: 0.1 },
  "REINFORCE++ baseline, clipped on two sides and twice": {
    ...batch,
    updates_per_step: 2,
    scale: "batch_std",
    clip_low: 0.05,
    clip_high: 0.1,
    dual_clip: 1.02,
  },
  "k1 with its weight": { ...batch, updates_per_step: 2, kl_coefficient: 0.5, kl_estimator: "k1" },
  minirl: { ...batch, updates_per_step: 2, policy_loss: "minirl", minirl_cap: 0.2 },
};
const sftCases: Record<string, JsonObject> = {
  "token mean": { ...plainSteps(1), batch_size: 6, aggregation: "token_mean" },
  "sequence mean": { ...plainSteps(1), batch_size: 6, aggregation: "sequence_mean" },
};
const pairBatch = { ...plainSteps(1), steps: 2, batch_size: 3 };
const dpoCases: Record<string, JsonObject> = {
  sigmoid: { ...pairBatch, beta: 0.5 },
  "cDPO with likelihood": { ...pairBatch, label_smoothing: 0.2, nll_coefficient: 0.3 },
  hinge: { ...pairBatch, loss: "hinge" },
  ipo: { ...pairBatch, loss: "ipo", beta: 1 },
  simpo: { ...pairBatch, loss: "simpo", beta: 2 },
  orpo: { ...pairBatch, loss: "orpo", beta: 0.5 },
  kto: { ...pairBatch, loss: "kto", beta: 0.5 },
};
const ktoCases: Record<string, JsonObject> = {
  "single answers": {
    ...plainSteps(1),
    steps: 2,
    batch_size: 5,
    loss: "kto",
    beta: 0.5,
    kto_undesirable_weight: 0.2,
    nll_coefficient: 0.2,
  },
};
const ppoBatch = {
  ...plainSteps(1),
  prompts_per_step: 4,
  group_size: 2,
  updates_per_step: 2,
  gae_lambda: 0.9,
  gamma: 0.98,
  clip_low: 0.05,
  clip_high: 0.05,
};
const ppoCases: Record<string, JsonObject> = {
  "a critic of its own": { ...ppoBatch, critic_learning_rate: 1e8 },
  "a value head on the policy's trunk": {
    ...ppoBatch,
    critic: "shared",
    value_coefficient: 0.5,
    value_clip: 0.01,
    entropy_coefficient: 0.02,
  },
};
const rewardBatch = { ...plainSteps(1), steps: 2, batch_size: 3 };
const rewardCases: Record<string, JsonObject> = {
  "pairs with margins": rewardBatch,
  "pairs, centred": { ...rewardBatch, center_coefficient: 0.1 },
};
const stepsCases: Record<string, JsonObject> = {
  "judged steps": { ...rewardBatch, batch_size: 2 },
};

const names = Object.entries({
  grpo: grpoCases,
  sft: sftCases,
  dpo: dpoCases,
  kto: ktoCases,
  ppo: ppoCases,
  reward: rewardCases,
  steps: stepsCases,
}).flatMap(([kind, cases]) => Object.entries(cases).map(([name, options]) => [kind as Kind, name, options] as const));

interface Verdict {
  readonly norms: readonly number[];
  readonly loss: number;
  readonly difference: number;
}

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("losses through the wire against torch's autograd", () => {
  const found = new Map<string, Played & { readonly verdict: Verdict }>();

  beforeAll(async () => {
    const updates = await Updates.open();
    const played: Played[] = [];
    for (const [kind, name, options] of names) played.push(await updates.play(kind, name, options));
    await updates.close();
    const { stdout, stderr, status } = spawnSync(
      installed?.executable as string,
      [join(import.meta.dirname, "autograd.py")],
      {
        input: JSON.stringify(played.map((each) => each.updates)),
        encoding: "utf8",
        env: { ...process.env, HF_HUB_OFFLINE: "1", CUDA_VISIBLE_DEVICES: "" },
      },
    );
    if (status !== 0) throw new Error(stderr);
    (JSON.parse(stdout) as Verdict[]).forEach((verdict, i) =>
      found.set(played[i]?.name as string, { ...(played[i] as Played), verdict }),
    );
  }, 300_000);

  test.each(names)("%s %s: the same loss, gradient norms and weights", (kind, name) => {
    const { reports, verdict } = found.get(`${kind} ${name}`) as Played & { readonly verdict: Verdict };
    const norms = reports.map(({ metrics }) => meanOf(metrics["optim/grad_norm"]));
    const averageOf = (numbers: readonly number[]): number =>
      numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    // The terms of k1 cancel: with AVX2 alone its weights are 1.3e-5 apart, and its norms 6e-6. Those of the others are at most 6.5e-6 apart.
    const rounding = name === "k1 with its weight" ? 3 : 1;
    expect(verdict.difference).toBeLessThan(rounding * 1e-5);
    expect(Math.abs(averageOf(norms) / averageOf(verdict.norms) - 1)).toBeLessThan(rounding * 5e-6);
    const losses: Partial<Record<Kind, string>> = {
      ...{ sft: "loss/nll", dpo: "loss/preference", kto: "loss/preference" },
      ...{ reward: "loss/reward", steps: "loss/reward" },
    };
    const loss = losses[kind];
    if (loss !== undefined) expect(meanOf(reports[0]?.metrics[loss])).toBeCloseTo(verdict.loss, 5);
  });

  test("numerics 14: on the first update the ratio is exactly 1 and sampler and trainer agree within 1e-4", () => {
    const { reports } = found.get("grpo one update") as Played;
    const { metrics } = reports[0] as IterationReport;
    expect(meanOf(metrics["ratio/mean"])).toBe(1);
    expect(meanOf(metrics["clip/fraction"])).toBe(0);
    expect(metrics["mismatch/max"]).toBeGreaterThanOrEqual(0);
    expect(metrics["mismatch/max"]).toBeLessThan(1e-4);
  });
});
