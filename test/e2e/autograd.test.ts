import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { sft } from "@mrlm/sft";
import type { AlgorithmDefinition, Engine, IterationReport, JsonObject, JsonValue, Mean, SupervisedSequence, TrajectoryGroup } from "@mrlm/spec";
import { localEnvironment } from "./support/local-environment.ts";
import { installed, startEngine, temporaryDirectory } from "./support/real-engine.ts";
import { letters, runStage, tinyConfig, tokenizerFiles } from "./support/stage.ts";

/** With betas of 0 and an epsilon far above every gradient, AdamW takes a plain gradient step of learning_rate / adam_epsilon. */
const plainSteps = (size: number) => ({ steps: 1, learning_rate: size * 1e8, adam_epsilon: 1e8, adam_beta1: 0, adam_beta2: 0, max_grad_norm: 0 });

const batch = { ...plainSteps(2), prompts_per_step: 4, group_size: 4 };
const grpoCases: Record<string, JsonObject> = {
  "one update": batch,
  "two updates with divergence and entropy": { ...batch, updates_per_step: 2, kl_coefficient: 0.5, kl_estimator: "k3", entropy_coefficient: 0.05, clip_low: 0.05, clip_high: 0.05 },
  "k2 as a loss, without its weight": { ...batch, updates_per_step: 2, kl_coefficient: 0.5, kl_estimator: "k2", kl_importance: false },
  "leave-one-out, sequence mean": { ...batch, updates_per_step: 2, baseline: "leave_one_out", aggregation: "sequence_mean" },
  "gspo with std": { ...batch, updates_per_step: 2, policy_loss: "gspo", scale: "group_std", aggregation: "sequence_mean", clip_low: 0.01, clip_high: 0.01 },
  "cispo, constant": { ...batch, updates_per_step: 2, policy_loss: "cispo", aggregation: "constant", clip_high: 0.1 },
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
  kto: { ...pairBatch, loss: "kto", beta: 0.5 },
};
// Conversations of different lengths, so that the two means differ.
const conversations = ["a", "ab", "abcd", "ddcba", "ab1", "c"].map((completion, i) => ({ prompt: String(i), completion }));
const pairs = [0, 2, 4].map((i) => ({ prompt: String(i), chosen: conversations[i]?.completion as string, rejected: conversations[i + 1]?.completion as string }));

type Kind = "grpo" | "sft" | "dpo";
const algorithms: Record<Kind, AlgorithmDefinition<any>> = { grpo, sft, dpo };
const names = Object.entries({ grpo: grpoCases, sft: sftCases, dpo: dpoCases }).flatMap(([kind, cases]) => Object.entries(cases).map(([name, options]) => [kind as Kind, name, options] as const));

interface Verdict {
  readonly norms: readonly number[];
  readonly loss: number;
  readonly difference: number;
}

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("losses through the wire against torch's autograd", () => {
  const directory = temporaryDirectory();
  let engine: Engine;
  let stop: () => Promise<void>;
  const reports = new Map<string, IterationReport[]>();
  const verdicts = new Map<string, Verdict>();

  /** One iteration from the common checkpoint; what autograd needs to do the same. */
  async function play(kind: Kind, name: string, options: JsonObject): Promise<JsonObject> {
    const policy = `${kind} ${name}`;
    const after = join(directory, policy);
    await engine.createModel({ model: policy, role: "policy", source: { kind: "directory", path: join(directory, "before") }, trainable: true, dtype: "float32", microBatchTokens: 120 });
    const rows = kind === "dpo" ? pairs : conversations;
    const place = { engine, policy, renderer: letters, ...(await localEnvironment()), sampling: { temperature: 0.9 }, rows };
    const found = await runStage(place, algorithms[kind], kind === "grpo" ? options : { ...options, data: "rows" });
    const [report] = found;
    reports.set(policy, found);
    await engine.export(policy, after);
    for (const { model } of (await engine.describe()).models.filter(({ model }) => model.startsWith(policy))) await engine.releaseModel(model);
    const answers = pairs.flatMap(({ prompt, chosen, rejected }) => [chosen, rejected].map((completion) => ({ prompt, completion })));
    const episodes = kind === "grpo" ? (report?.trajectories ?? []).flatMap(episodesOf) : (kind === "dpo" ? answers : conversations).map(conversationOf);
    return { kind, options, episodes, before: join(directory, "before"), after, max_tokens: 8, temperature: kind === "grpo" ? 0.9 : 1 };
  }

  beforeAll(async () => {
    ({ engine, stop } = await startEngine());
    await engine.createModel({ model: "first", role: "policy", source: { kind: "random", config: tinyConfig, seed: 3, tokenizerFiles }, trainable: true, dtype: "float32" });
    await engine.export("first", join(directory, "before"));
    const cases: JsonObject[] = [];
    for (const [kind, name, options] of names) cases.push(await play(kind, name, options));
    const { stdout, stderr, status } = spawnSync(installed?.executable as string, [join(import.meta.dirname, "autograd.py")], {
      input: JSON.stringify(cases),
      encoding: "utf8",
      env: { ...process.env, HF_HUB_OFFLINE: "1", CUDA_VISIBLE_DEVICES: "" },
    });
    if (status !== 0) throw new Error(stderr);
    (JSON.parse(stdout) as Verdict[]).forEach((verdict, i) => verdicts.set(`${names[i]?.[0]} ${names[i]?.[1]}`, verdict));
  }, 300_000);
  afterAll(() => stop?.());

  test.each(names)("%s %s: the same loss, gradient norms and weights", (kind, name) => {
    const all = reports.get(`${kind} ${name}`) as IterationReport[];
    const verdict = verdicts.get(`${kind} ${name}`) as Verdict;
    const norms = all.map(({ metrics }) => meanOf(metrics["optim/grad_norm"]));
    const averageOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    expect(verdict.difference).toBeLessThan(1e-5);
    expect(averageOf(norms) / averageOf(verdict.norms)).toBeCloseTo(1, 5);
    const loss = { sft: "loss/nll", dpo: "loss/preference", grpo: undefined }[kind];
    if (loss !== undefined) expect(meanOf(all[0]?.metrics[loss])).toBeCloseTo(verdict.loss, 5);
  });

  test("numerics 14: on the first update the ratio is exactly 1 and sampler and trainer agree within 1e-4", () => {
    const [{ metrics }] = reports.get("grpo one update") as [IterationReport];
    expect(meanOf(metrics["ratio/mean"])).toBe(1);
    expect(meanOf(metrics["clip/fraction"])).toBe(0);
    expect(metrics["mismatch/max"]).toBeGreaterThanOrEqual(0);
    expect(metrics["mismatch/max"]).toBeLessThan(1e-4);
  });
});

const meanOf = (metric: number | Mean | undefined): number => (typeof metric === "object" ? metric.sum / metric.count : (metric ?? Number.NaN));

function episodesOf({ id, trajectories }: TrajectoryGroup): JsonValue[] {
  return trajectories.map(({ agents }) => {
    const { segments, total } = agents["agent"] as (typeof agents)[string];
    return { group: id, reward: total.scored ? total.value : Number.NaN, rows: segments.map(rowOf) };
  });
}

function conversationOf({ prompt, completion }: (typeof conversations)[number]): JsonValue {
  const message = (role: "user" | "assistant", text: string) => ({ role, parts: [{ type: "text" as const, text }] });
  return { rows: letters.supervise([message("user", prompt), message("assistant", completion)]).map(rowOf) };
}

function rowOf({ tokens, mask }: SupervisedSequence): JsonValue {
  return { tokens: Array.from(tokens), mask: Array.from(mask) };
}
