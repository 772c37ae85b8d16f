import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { type EngineUnit, MrlmError, type UnitGradients, type UnitOutputs } from "@mrlm/spec";
import type { CreateModelOptions, Engine, SampledChunk, Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";
import { serveEngine } from "@mrlm/server";
import { BigramEngine } from "@mrlm/testing";
import { connectEngine } from "../src/index.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";

const policy: CreateModelOptions = {
  model: "policy",
  role: "policy",
  trainable: true,
  valueHead: true,
  microBatchTokens: 4000,
  source: {
    kind: "random",
    config: { vocab_size: 7, eos_token_id: 6, initializer_range: 1, max_position_embeddings: 100_000 },
    seed: 1,
    tokenizerFiles: { "tokenizer.json": Uint8Array.of(1, 2, 3) },
  },
};
/** About 1.2 MB of tokens and masks in 20 units, so that they take several messages. */
const units: EngineUnit[] = Array.from({ length: 20 }, (_, u) => ({
  sequences: [3000, 9000].map((length, s) => ({
    tokens: Int32Array.from({ length: u === 0 ? 5 : length }, (_token, t) => (t * t + u + s) % 7),
    mask: Uint8Array.from({ length: u === 0 ? 5 : length }, (_bit, t) => Number(t > 0 && t % (50 + u) === 1)),
  })),
}));
const outputs = { logprob: true, entropy: true, value: true, finalValue: true };
const gradient = (i: number, { logprob, value }: UnitOutputs): UnitGradients => ({
  logprob: logprob?.map((x) => x * (i + 1)) ?? new Float32Array(),
  ...(i % 2 === 1 && value && { value: value.map((x) => x - 1) }),
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function served(): Promise<{ port: number; stop: () => Promise<void>; local: BigramEngine }> {
  const local = new BigramEngine();
  const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
  cleanups.push(() => server.close());
  return { port: server.port, stop: () => server.close(), local };
}

async function connected(port: number, lost?: AbortSignal): Promise<Engine> {
  const engine = await connectEngine(`127.0.0.1:${port}`, lost && { lost });
  cleanups.push(() => engine.close());
  return engine;
}

/** Calls every method that training uses. @returns the results */
async function train(engine: Engine, units: readonly EngineUnit[]): Promise<unknown> {
  const created = await engine.createModel(policy);
  const forward = await engine.forward({ model: "policy", units, outputs, temperature: 0.7 });
  const steps = [];
  for (let i = 0; i < 2; i++) {
    const {
      outputs: found,
      microBatches,
      tokens,
    } = await engine.forwardBackward({
      model: "policy",
      units,
      outputs,
      temperature: 0.7,
      normalizer: 10,
      loss: gradient,
    });
    const { gradNorm, step } = await engine.optimStep({ model: "policy", learningRate: 0.1, maxGradNorm: 1 });
    const known = found.map((unit, u) => gradient(u, unit));
    const linear = await engine.forwardBackward({
      model: "policy",
      units,
      outputs,
      normalizer: 10,
      loss: known,
      returnOutputs: true,
    });
    const second = await engine.optimStep({ model: "policy", learningRate: 0.1 });
    const { version, checksum } = await engine.publish("policy");
    steps.push({
      found,
      microBatches,
      tokens,
      gradNorm,
      step,
      linear: linear.outputs,
      second: second.gradNorm,
      version,
      checksum,
      sampled: await sample(engine),
    });
  }
  const { models, deterministic } = await engine.describe();
  return structuredClone({ created, forward, steps, models, deterministic });
}

async function sample(engine: Engine, waves = 3): Promise<SampleResult[]> {
  const sampler = await engine.sampler("policy");
  const all: Promise<SampleResult>[] = [];
  for (let wave = 0; wave < waves; wave++) {
    for (let i = 0; i < 8; i++) {
      const request: SampleRequest = {
        prompt: Int32Array.of(i % 7, 1),
        params: { temperature: 1, maxTokens: 30, stopTokenIds: [6] },
        key: (BigInt(wave) << 60n) + BigInt(i),
      };
      all.push(sampler.sample(request));
    }
    sampler.barrier();
  }
  const results = await Promise.all(all);
  await sampler.close();
  return results;
}

describe("a remote engine", () => {
  test("trains and samples to the same numbers as the engine itself", async () => {
    const { port } = await served();
    expect(await train(await connected(port), units)).toEqual(await train(new BigramEngine(), units));
  });

  test("applies every call once over a connection that breaks", async () => {
    const { port } = await served();
    const proxy = await fragileProxy(port);
    cleanups.push(() => proxy.close());
    const engine = await connected(proxy.port);
    cleanups.push(proxy.keepCutting(100));
    const few = units.slice(0, 3);
    expect(await train(engine, few)).toEqual(await train(new BigramEngine(), few));
  });

  test("repeats unfinished waves once, with what was submitted meanwhile, and leaves no stream open", async () => {
    const { port, local } = await served();
    const counted = { made: 0, open: 0 };
    const samplerOf = local.sampler.bind(local);
    local.sampler = async (model) => {
      const sampler = await samplerOf(model);
      counted.made++;
      counted.open++;
      return {
        sample: (request, options) => sampler.sample(request, options),
        barrier: () => sampler.barrier(),
        close: async () => void counted.open--,
      };
    };
    const proxy = await fragileProxy(port);
    cleanups.push(() => proxy.close());
    const engine = await connected(proxy.port);
    await engine.createModel(policy);
    const reference = new BigramEngine();
    await reference.createModel(policy);
    const request = (i: number): SampleRequest => ({
      prompt: Int32Array.of(i),
      params: { temperature: 1, maxTokens: 30, stopTokenIds: [6] },
      key: BigInt(i),
    });
    const streamOf = async (made: number): Promise<void> => {
      while (counted.made < made) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const play = async (from: Engine, interrupt: () => Promise<void>): Promise<SampleResult[]> => {
      const sampler = await from.sampler("policy");
      const early = sampler.sample(request(0));
      await interrupt();
      const late = sampler.sample(request(1));
      sampler.barrier();
      const results = await Promise.all([early, late]);
      await sampler.close();
      return results;
    };
    const cut = async (): Promise<void> => {
      await streamOf(1);
      proxy.cut();
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    expect(await play(engine, cut)).toEqual(await play(reference, async () => undefined));
    expect(counted.made).toBe(2);
    const sampler = await engine.sampler("policy");
    const given = sampler.sample(request(0));
    await streamOf(3);
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await Promise.all([expect(given).rejects.toMatchObject({ code: "CANCELLED" }), sampler.close()]);
    // A call made after it has waited as long as the sampler would have.
    await engine.publish("policy");
    while (counted.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(counted.made).toBe(3);
  });

  test("streams each token once over a connection that breaks, and rejects a repeated sequence with other tokens", async () => {
    const local = new BigramEngine({ deterministic: false });
    const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
    cleanups.push(() => server.close());
    const proxy = await fragileProxy(server.port);
    cleanups.push(() => proxy.close());
    const engine = await connected(proxy.port);
    await engine.createModel(policy);
    const sampler = await engine.sampler("policy");
    const params = { temperature: 1, maxTokens: 30, stopTokenIds: [] };
    /** Samples a sequence. Calls back once, after the tenth token. */
    const play = async (onTenth: () => unknown): Promise<void> => {
      const tokens: number[] = [];
      const onTokens = ({ tokens: fresh }: SampledChunk): void => {
        if (tokens.length < 10 && tokens.length + fresh.length >= 10) onTenth();
        tokens.push(...fresh);
      };
      const result = await sampler.sample({ prompt: Int32Array.of(1), params, key: 5n }, { onTokens });
      expect(result.tokens).toHaveLength(30);
      expect(tokens).toEqual([...result.tokens]);
    };
    const samplers = jest.spyOn(local, "sampler");
    await play(() => proxy.cut());
    expect(samplers).toHaveBeenCalledTimes(2);
    const pass = { model: "policy", units: units.slice(0, 1), outputs, normalizer: 1, loss: gradient };
    await engine.forwardBackward(pass);
    await engine.optimStep({ model: "policy", learningRate: 5 });
    const changed = play(() => void local.publish("policy").then(() => proxy.cut()));
    await expect(changed).rejects.toMatchObject({
      code: "ENGINE_FAILED",
      message: expect.stringContaining("other tokens"),
    });
  });

  test("repeats only unfinished sequences of an engine without waves", async () => {
    const local = new BigramEngine({ deterministic: false });
    const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
    cleanups.push(() => server.close());
    const proxy = await fragileProxy(server.port);
    cleanups.push(() => proxy.close());
    const engine = await connected(proxy.port);
    await engine.createModel(policy);
    const submitted: bigint[] = [];
    const samplerOf = local.sampler.bind(local);
    local.sampler = async (model) => {
      const sampler = await samplerOf(model);
      const sample: Sampler["sample"] = (each, options) => (submitted.push(each.key), sampler.sample(each, options));
      return { sample, barrier: () => undefined, close: () => sampler.close() };
    };
    const sampler = await engine.sampler("policy");
    const request = (key: bigint, maxTokens: number): SampleRequest => ({
      prompt: Int32Array.of(1),
      params: { temperature: 1, maxTokens, stopTokenIds: [] },
      key,
    });
    for (const key of [1n, 2n, 3n]) await sampler.sample(request(key, 2));
    let tokens = 0;
    const onTokens = (): void => void (++tokens === 5 && proxy.cut());
    await sampler.sample(request(4n, 20), { onTokens });
    expect(submitted).toEqual([1n, 2n, 3n, 4n, 4n]);
    await sampler.close();
  });

  test("continues from the calls that an earlier client made", async () => {
    const { port, local } = await served();
    const first = await connected(port);
    await first.createModel(policy);
    await first.publish("policy");
    const second = await connected(port);
    expect((await second.publish("policy")).version).toBe(2);
    await expect(first.publish("policy")).resolves.toMatchObject({ version: 2 });
    expect((await local.describe()).models[0]?.version).toBe(2);
  });

  test("throws the engine's own errors, also in the middle of a stream", async () => {
    const { port } = await served();
    const engine = await connected(port);
    const fails = (code: string) => expect.objectContaining({ code });
    await engine.createModel(policy);
    const pass = { model: "policy", units, outputs, normalizer: 1, loss: gradient };
    await expect(engine.publish("unknown")).rejects.toEqual(fails("MODEL_NOT_FOUND"));
    await expect(engine.forward({ ...pass, model: "unknown" })).rejects.toEqual(fails("MODEL_NOT_FOUND"));
    await expect(engine.forwardBackward({ ...pass, normalizer: 0 })).rejects.toEqual(fails("NORMALIZER_INVALID"));
    await expect(engine.forwardBackward({ ...pass, loss: () => ({ logprob: new Float32Array(1) }) })).rejects.toEqual(
      fails("GRADIENT_SHAPE"),
    );
    const broken = (): UnitGradients => {
      throw new Error("the loss is broken");
    };
    await expect(engine.forwardBackward({ ...pass, loss: broken })).rejects.toThrow(/^the loss is broken$/);
    await expect(engine.forwardBackward({ ...pass, signal: AbortSignal.abort() })).rejects.toEqual(fails("CANCELLED"));
    const sampler = await engine.sampler("policy");
    const params = { temperature: 1, maxTokens: 3, stopTokenIds: [] };
    const bad = sampler.sample({ prompt: Int32Array.of(99), params, key: 1n });
    const good = sampler.sample({ prompt: Int32Array.of(1), params, key: 1n });
    sampler.barrier();
    await expect(bad).rejects.toEqual(fails("SEQUENCE_INVALID"));
    expect((await good).tokens).toHaveLength(3);
    const controller = new AbortController();
    const waiting = sampler.sample({ prompt: Int32Array.of(1), params, key: 1n }, { signal: controller.signal });
    controller.abort();
    expect((await waiting).stopReason).toBe("cancelled");
    await expect(
      (await engine.sampler("unknown")).sample({ prompt: Int32Array.of(1), params, key: 1n }),
    ).rejects.toEqual(fails("MODEL_NOT_FOUND"));
    expect((await engine.publish("policy")).version).toBe(1);
  });

  test("saves, loads and exports", async () => {
    const folder = await mkdtemp(join(tmpdir(), "mrlm-remote-engine-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    const first = await connected((await served()).port);
    await first.createModel(policy);
    expect((await first.save(join(folder, "checkpoint"))).bytes).toBeGreaterThan(0);
    expect(await first.export("policy", join(folder, "model"))).toContain("config.json");
    const second = await connected((await served()).port);
    expect(await second.load(join(folder, "checkpoint"))).toEqual((await first.describe()).models);
    await second.releaseModel("policy");
    await expect(second.publish("policy")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  test("that cannot be reached any more, and whose end will be reported, is waited for: the cause is its end", async () => {
    const { port, stop } = await served();
    const lost = new AbortController();
    const engine = await connected(port, lost.signal);
    await engine.createModel(policy);
    await stop();
    const call = engine.publish("policy");
    // This is later than the last attempt.
    setTimeout(() => lost.abort(new MrlmError("ENGINE_EXITED", "Rank 1 was killed by SIGKILL.")), 4_500);
    await expect(call).rejects.toMatchObject({ code: "ENGINE_EXITED" });
  });

  test("that is gone fails every call, and at once where its end is known", async () => {
    const { port, stop } = await served();
    const lost = new AbortController();
    const engine = await connected(port, lost.signal);
    await engine.createModel(policy);
    const sampler = await engine.sampler("policy");
    const waiting = sampler.sample({
      prompt: Int32Array.of(1),
      params: { temperature: 1, maxTokens: 3, stopTokenIds: [] },
      key: 1n,
    });
    waiting.catch(() => undefined);
    await stop();
    const unnoticed = engine.publish("policy");
    unnoticed.catch(() => undefined);
    lost.abort(new MrlmError("ENGINE_EXITED", "The engine process was killed by SIGKILL."));
    await expect(waiting).rejects.toMatchObject({ code: "ENGINE_EXITED" });
    await expect(unnoticed).rejects.toMatchObject({ code: "ENGINE_EXITED" });
    await expect(engine.forward({ model: "policy", units, outputs })).rejects.toMatchObject({ code: "ENGINE_EXITED" });
    await expect(connectEngine("127.0.0.1:1")).rejects.toMatchObject({
      code: "ENGINE_UNAVAILABLE",
      message: expect.stringContaining("127.0.0.1:1"),
    });
  });
});
