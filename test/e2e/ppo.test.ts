import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ppo } from "@mrlm/ppo";
import type { IterationReport, Mean } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { lettersEnvironment } from "@mrlm/testing";
import { localEnvironment } from "./support/local-environment.ts";
import { installed, startEngine } from "./support/real-engine.ts";
import { letters, runStage, tinyConfig, tokenizerFiles } from "./support/stage.ts";

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("ppo on the real engine", () => {
  let engine: Engine;
  let stop: () => Promise<void>;
  let reports: IterationReport[];

  beforeAll(async () => {
    ({ engine, stop } = await startEngine());
    await engine.createModel({
      model: "policy",
      role: "policy",
      source: { kind: "random", config: tinyConfig, seed: 3, tokenizerFiles },
      trainable: true,
      dtype: "float32",
    });
    const options = {
      steps: 2,
      prompts_per_step: 8,
      updates_per_step: 2,
      learning_rate: 1e-3,
      critic_learning_rate: 1e-2,
      kl_coefficient: 0.05,
      entropy_coefficient: 0.01,
    };
    reports = await runStage(
      { engine, policy: "policy", renderer: letters, ...(await localEnvironment(lettersEnvironment({ turns: 2 }))) },
      ppo,
      options,
    );
  }, 180_000);
  afterAll(() => stop?.());

  test("numerics 44: the critic is a twin of the policy whose head is zero: it returns 0 everywhere until it has learnt", () => {
    const [first, second] = reports.map(({ metrics }) => metrics["value/mean"] as Mean);
    expect(first?.sum).toBe(0);
    expect(Math.abs(second?.sum ?? 0)).toBeGreaterThan(0);
  });

  test("numerics 14: sampler and trainer agree within 1e-4, and the policy is its reference at first", () => {
    const [{ metrics }] = reports as [IterationReport];
    expect(metrics["mismatch/max"]).toBeLessThan(1e-4);
    expect(Math.abs((metrics["kl/reference"] as Mean).sum)).toBeLessThan(1e-4);
  });
});
