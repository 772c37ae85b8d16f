import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { EngineUnit, OutputSelection, UnitGradients, UnitOutputs } from "@mrlm/spec";
import type { CreateModelOptions } from "@mrlm/spec/host";
import { BigramEngine } from "../src/index.ts";

const config = { vocab_size: 5, eos_token_id: 4, initializer_range: 1 };
const policy: CreateModelOptions = {
  model: "policy",
  role: "policy",
  trainable: true,
  valueHead: true,
  source: { kind: "random", config, seed: 1, tokenizerFiles: { "tokenizer.json": Uint8Array.of(1, 2) } },
};
const units: EngineUnit[] = [
  {
    sequences: [
      { tokens: Int32Array.of(0, 1, 2, 3), mask: Uint8Array.of(0, 0, 1, 1) },
      { tokens: Int32Array.of(2, 2), mask: Uint8Array.of(0, 1) },
    ],
  },
  { sequences: [{ tokens: Int32Array.of(3, 0, 4), mask: Uint8Array.of(0, 1, 1) }] },
];
const everything: OutputSelection = { logprob: true, entropy: true, value: true, finalValue: true };
const folder = await mkdtemp(join(tmpdir(), "mrlm-bigram-"));
afterAll(() => rm(folder, { recursive: true }));

let engine: BigramEngine;
beforeEach(async () => {
  engine = new BigramEngine();
  await engine.createModel(policy);
});

/** Returns the loss with a different curvature in every output. */
function loss(i: number, outputs: UnitOutputs): number {
  const sum = (numbers: Float32Array | undefined, f: (x: number) => number): number =>
    Array.from(numbers ?? []).reduce((total, x) => total + f(x), 0);
  return (
    (i + 1) *
    (sum(outputs.logprob, (x) => x * x) +
      sum(outputs.entropy, (x) => Math.sin(x)) +
      sum(outputs.value, (x) => (x - 1) ** 2))
  );
}
function gradient(i: number, outputs: UnitOutputs): UnitGradients {
  return {
    logprob: (outputs.logprob as Float32Array).map((x) => (i + 1) * 2 * x),
    entropy: (outputs.entropy as Float32Array).map((x) => (i + 1) * Math.cos(x)),
    value: (outputs.value as Float32Array).map((x) => (i + 1) * 2 * (x - 1)),
  };
}

describe("BigramEngine", () => {
  test("a small step along the gradient lowers the loss in proportion to its norm", async () => {
    const before = await engine.forward({ model: "policy", units, outputs: everything, temperature: 0.7 });
    await engine.forwardBackward({
      model: "policy",
      units,
      outputs: everything,
      temperature: 0.7,
      normalizer: 1,
      loss: gradient,
    });
    const rate = 1e-3;
    // With these moments the first update of AdamW is the gradient itself, so that the loss falls by rate x norm².
    const { gradNorm, applied, step } = await engine.optimStep({
      model: "policy",
      learningRate: rate * 1e12,
      beta1: 0,
      beta2: 0,
      epsilon: 1e12,
    });
    const after = await engine.forward({ model: "policy", units, outputs: everything, temperature: 0.7 });
    const total = (all: readonly UnitOutputs[]): number => all.reduce((sum, outputs, i) => sum + loss(i, outputs), 0);
    expect({ applied, step }).toEqual({ applied: true, step: 1 });
    expect(total(before) - total(after)).toBeGreaterThan(0.95 * rate * gradNorm ** 2);
    expect(total(before) - total(after)).toBeLessThan(1.05 * rate * gradNorm ** 2);
  });

  test("numerics 1: the gradient is the same for every micro-batch split", async () => {
    const norms = await Promise.all(
      [0, 1, 5].map(async (microBatchTokens) => {
        const other = new BigramEngine();
        await other.createModel({ ...policy, microBatchTokens });
        const { microBatches } = await other.forwardBackward({
          model: "policy",
          units,
          outputs: everything,
          normalizer: 3,
          loss: gradient,
        });
        return { microBatches, norm: (await other.optimStep({ model: "policy", learningRate: 1 })).gradNorm };
      }),
    );
    expect(norms.map(({ microBatches }) => microBatches)).toEqual([1, 2, 2]);
    expect(new Set(norms.map(({ norm }) => norm)).size).toBe(1);
  });

  test("given gradients have the effect of the same gradients from a function", async () => {
    const outputs = await engine.forward({ model: "policy", units, outputs: everything });
    const known = outputs.map((unit, i) => gradient(i, unit));
    const norm = async (given: typeof known | typeof gradient): Promise<number> => {
      await engine.forwardBackward({ model: "policy", units, outputs: everything, normalizer: 2, loss: given });
      return (await engine.optimStep({ model: "policy", learningRate: 0 })).gradNorm;
    };
    expect(await norm(known)).toBe(await norm(gradient));
  });

  test("numerics 14: an evaluation gives the log-probabilities of the sampler", async () => {
    const sampler = await engine.sampler("policy");
    const params = { temperature: 0.7, maxTokens: 20, stopTokenIds: [4] };
    const results = [7n, 7n, 2n ** 63n].map((key) => sampler.sample({ prompt: Int32Array.of(0, 1), params, key }));
    sampler.barrier();
    const [first, second, third] = await Promise.all(results);
    expect(second).toEqual(first);
    expect(third?.tokens).not.toEqual(first?.tokens);
    const tokens = Int32Array.of(0, 1, ...(first?.tokens ?? []));
    const mask = Uint8Array.from(tokens, (_, t) => Number(t >= 2));
    const [outputs] = await engine.forward({
      model: "policy",
      units: [{ sequences: [{ tokens, mask }] }],
      outputs: { logprob: true },
      temperature: 0.7,
    });
    expect(outputs?.logprob).toEqual(first?.logprobs);
  });

  test("greedy sampling, top-k, top-p, minimal length, cancellation", async () => {
    const sampler = await engine.sampler("policy");
    const base = { temperature: 1, maxTokens: 8, stopTokenIds: [0, 1, 2, 3] };
    const prompt = Int32Array.of(0);
    const aborted = sampler.sample({ prompt, params: base, key: 1n }, { signal: AbortSignal.abort() });
    const all = [{ temperature: 0 }, { topK: 1 }, { topP: 1e-9 }, { minTokens: 8 }].map((extra) =>
      sampler.sample({ prompt, params: { ...base, ...extra }, key: 1n }),
    );
    sampler.barrier();
    const [greedy, topK, topP, least] = await Promise.all(all);
    expect(topK?.tokens).toEqual(greedy?.tokens);
    expect(topP?.tokens).toEqual(greedy?.tokens);
    expect(topK?.truncatedSupport).toBe(true);
    expect(topK?.logprobs[0]).toBeCloseTo(0);
    expect(greedy?.truncatedSupport).toBe(false);
    expect(least?.tokens.slice(0, 7)).toEqual(new Int32Array(7).fill(4));
    expect((await aborted).stopReason).toBe("cancelled");
  });

  test("only a published step reaches the sampler; numerics 49", async () => {
    const version = async (): Promise<number | undefined> => {
      const sampler = await engine.sampler("policy");
      const sampled = sampler.sample({
        prompt: Int32Array.of(0),
        params: { temperature: 0, maxTokens: 1, stopTokenIds: [] },
        key: 0n,
      });
      sampler.barrier();
      return (await sampled).versions[0];
    };
    const { checksum, version: first } = await engine.publish("policy");
    expect(await version()).toBe(first);
    await engine.forwardBackward({ model: "policy", units, outputs: everything, normalizer: 1, loss: gradient });
    await engine.optimStep({ model: "policy", learningRate: 0.1 });
    expect((await engine.publish("policy")).checksum).not.toBe(checksum);
  });

  test("numerics 58: a gradient that is not finite skips the step, with a reason", async () => {
    const broken = (): UnitGradients => ({ value: new Float32Array(3).fill(Number.NaN) });
    await engine.forwardBackward({
      model: "policy",
      units: units.slice(0, 1),
      outputs: { value: true },
      normalizer: 1,
      loss: broken,
    });
    expect(await engine.optimStep({ model: "policy", learningRate: 1 })).toMatchObject({
      applied: false,
      step: 0,
      skippedReason: expect.stringContaining("NaN"),
    });
    expect(await engine.optimStep({ model: "policy", learningRate: 1 })).toMatchObject({ applied: true, gradNorm: 0 });
  });

  test("numerics 52: a loaded checkpoint continues with the same bits; an export is a model directory", async () => {
    const train = async (target: BigramEngine): Promise<string> => {
      await target.forwardBackward({ model: "policy", units, outputs: everything, normalizer: 1, loss: gradient });
      await target.optimStep({ model: "policy", learningRate: 0.1 });
      return (await target.publish("policy")).checksum;
    };
    await train(engine);
    await engine.save(join(folder, "checkpoint"));
    await engine.export("policy", join(folder, "model"));
    const resumed = new BigramEngine();
    await resumed.load(join(folder, "checkpoint"));
    expect(await train(resumed)).toBe(await train(engine));
    const created = await resumed.createModel({
      ...policy,
      model: "again",
      source: { kind: "directory", path: join(folder, "model") },
    });
    expect(created.tokenizerFiles["tokenizer.json"]).toEqual(Uint8Array.of(1, 2));
  });

  test("refuses invalid calls", async () => {
    const fails = (code: string) => expect.objectContaining({ code });
    const pass = { model: "policy", units, outputs: { logprob: true }, normalizer: 1, loss: [] };
    await engine.createModel({
      ...policy,
      model: "frozen",
      trainable: false,
      valueHead: false,
      source: { kind: "copy", of: "policy" },
    });
    await expect(engine.publish("unknown")).rejects.toEqual(fails("MODEL_NOT_FOUND"));
    await expect(engine.forwardBackward({ ...pass, model: "frozen" })).rejects.toEqual(fails("NOT_TRAINABLE"));
    await expect(engine.forwardBackward({ ...pass, normalizer: 0 })).rejects.toEqual(fails("NORMALIZER_INVALID"));
    await expect(engine.forwardBackward({ ...pass, loss: () => ({ logprob: new Float32Array(1) }) })).rejects.toEqual(
      fails("GRADIENT_SHAPE"),
    );
    await expect(engine.forward({ ...pass, model: "frozen", outputs: { value: true } })).rejects.toEqual(
      fails("VALUE_HEAD_MISSING"),
    );
    const bad = (tokens: number[], mask: number[]) =>
      engine.forward({
        ...pass,
        units: [{ sequences: [{ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) }] }],
      });
    await expect(bad([0, 5], [0, 1])).rejects.toEqual(fails("SEQUENCE_INVALID"));
    await expect(bad([0, 1], [1, 1])).rejects.toEqual(fails("SEQUENCE_INVALID"));
    await expect(bad(Array(5000).fill(0), Array(5000).fill(0))).rejects.toEqual(fails("SEQUENCE_TOO_LONG"));
    await expect(engine.createModel({ ...policy, lora: { rank: 1, alpha: 1 } })).rejects.toEqual(
      fails("LORA_UNAVAILABLE"),
    );
  });
});
