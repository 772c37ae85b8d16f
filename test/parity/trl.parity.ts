import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { installed } from "../e2e/support/real-engine.ts";
import { type Kind, meanOf, plainSteps, type Played, Updates } from "../e2e/support/updates.ts";

const batch = { ...plainSteps(2), prompts_per_step: 4, group_size: 4 };
const pairs = { ...plainSteps(1), batch_size: 3 };
/** Options under which the formulas are the same; docs/reference/algorithms.md lists the differences. */
const CASES: readonly (readonly [Kind, string, JsonObject])[] = [
  ["sft", "token mean", { ...plainSteps(1), batch_size: 6 }],
  ["dpo", "sigmoid", { ...pairs, beta: 0.5 }],
  ["dpo", "hinge", { ...pairs, loss: "hinge", beta: 0.2 }],
  ["dpo", "ipo", { ...pairs, loss: "ipo", beta: 1 }],
  ["dpo", "orpo", { ...pairs, loss: "orpo", beta: 0.5 }],
  ["kto", "single answers", { ...plainSteps(1), batch_size: 5, loss: "kto", beta: 0.5 }],
  [
    "kto",
    "two steps of single answers, with a divergence",
    { ...plainSteps(1), steps: 2, batch_size: 5, loss: "kto", beta: 0.5, kto_undesirable_weight: 0.2 },
  ],
  ["reward", "pairs with margins", { ...plainSteps(1), batch_size: 3 }],
  ["reward", "pairs with margins, centred", { ...plainSteps(1), batch_size: 3, center_coefficient: 0.1 }],
  ["grpo", "token mean (TRL: dapo)", { ...batch, scale: "group_std" }],
  ["grpo", "sequence mean (TRL: grpo)", { ...batch, scale: "group_std", aggregation: "sequence_mean" }],
  ["grpo", "constant (TRL: dr_grpo)", { ...batch, aggregation: "constant" }],
  [
    "grpo",
    "two updates of one batch, clipped",
    { ...batch, scale: "group_std", updates_per_step: 2, clip_low: 0.05, clip_high: 0.1 },
  ],
  [
    "grpo",
    "two updates with the divergence k3 as a loss",
    { ...batch, updates_per_step: 2, kl_coefficient: 0.5, kl_importance: false },
  ],
  ["grpo", "two updates with the divergence k3 and its weight", { ...batch, updates_per_step: 2, kl_coefficient: 0.5 }],
  [
    "grpo",
    "gspo",
    {
      ...batch,
      updates_per_step: 2,
      policy_loss: "gspo",
      aggregation: "sequence_mean",
      clip_low: 0.01,
      clip_high: 0.02,
    },
  ],
  [
    "grpo",
    "distillation over the whole vocabulary (TRL: GKD, beta 1)",
    { ...batch, distill_coefficient: 1, reward_coefficient: 0, distill_top_k: "all" },
  ],
  ["grpo", "cispo", { ...batch, updates_per_step: 2, policy_loss: "cispo", clip_high: 0.1 }],
];

/** Metric that is TRL's loss; those of a divergence are added. */
const LOSSES: Record<Kind, string> = {
  sft: "loss/nll",
  dpo: "loss/preference",
  kto: "loss/preference",
  grpo: "loss/policy",
  ppo: "loss/policy",
  reward: "loss/reward",
  steps: "loss/reward",
};

interface Verdict {
  readonly losses: readonly number[];
  readonly norms: readonly number[];
  readonly difference: number;
}

/** The interpreter of TRL's environment, which `npm run test:parity` installs. */
const peer = process.env["MRLM_PEER_PYTHON"];

(installed === undefined || peer === undefined ? describe.skip : describe)(
  "one optimizer step as TRL makes it (skipped without MRLM_PEER_PYTHON, a Python that has TRL)",
  () => {
    const found = new Map<string, readonly [Played, Verdict]>();

    beforeAll(async () => {
      const updates = await Updates.open();
      const played: Played[] = [];
      for (const [kind, name, options] of CASES) played.push(await updates.play(kind, name, options));
      await updates.close();
      const { stdout, stderr, status } = spawnSync(peer as string, [join(import.meta.dirname, "peer_updates.py")], {
        input: JSON.stringify(played.map((each) => each.updates)),
        encoding: "utf8",
        env: { ...process.env, CUDA_VISIBLE_DEVICES: "" },
      });
      if (status !== 0) throw new Error(stderr);
      (JSON.parse(stdout) as Verdict[]).forEach((verdict, i) =>
        found.set(played[i]?.name as string, [played[i] as Played, verdict]),
      );
    }, 900_000);

    test.each(CASES)("%s, %s: loss, gradient norm and weights", (kind, name) => {
      const [{ reports }, verdict] = found.get(`${kind} ${name}`) as readonly [Played, Verdict];
      const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
      console.info(`${kind}, ${name}: weights differ by ${verdict.difference.toExponential(1)} of the largest change`);
      expect(verdict.difference).toBeLessThan(1e-5);
      const of = (name: string): number => mean(reports.map(({ metrics }) => meanOf(metrics[name] ?? 0)));
      expect(of("optim/grad_norm") / mean(verdict.norms)).toBeCloseTo(1, 5);
      const ours = of(LOSSES[kind]) + of("loss/kl") + of("distill/kl");
      expect(ours).toBeCloseTo(mean(verdict.losses), 5);
      if (name.endsWith("with a divergence"))
        expect(meanOf(reports[1]?.metrics["kto/divergence"])).toBeGreaterThan(0.01);
    });
  },
);
