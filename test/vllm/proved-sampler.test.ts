import { afterEach, expect, test } from "@jest/globals";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@mrlm/kit/service";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import { vllmOptions } from "../../plugins/sampler-vllm/src/options.ts";
import type { SampleRequest, WeightsUpdate } from "@mrlm/spec/host";
import { DirectoryTrainer } from "./support/directory-trainer.ts";
import { FakeVllm, type Fault } from "./support/fake-vllm.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const asked: SampleRequest = {
  prompt: Int32Array.of(1, 2, 3),
  params: { temperature: 1, maxTokens: 8, stopTokenIds: [] },
  key: 5n,
};

/** Starts a server, a trainer and the sampler between them. `next` trains and publishes. */
async function started() {
  const trainer = new DirectoryTrainer();
  const config = { vocab_size: 16, initializer_range: 1, max_position_embeddings: 1024 };
  const source = { kind: "random", config, seed: 3, tokenizerFiles: {} } as const;
  const { info } = await trainer.createModel({ model: "policy", source, role: "policy", trainable: true });
  const fake = await new FakeVllm({ vocabSize: 16, logits: new Float64Array(256) }).start();
  const options = vllmOptions.parse({});
  const inner = await vllm.open({ url: fake.url, options, signal: AbortSignal.timeout(9_000) });
  const directory = mkdtempSync(join(tmpdir(), "mrlm-proved-"));
  const sampler = new ProvedSampler({ sampler: inner, directory, logger: silentLogger, connect: async () => trainer });
  closing.push(
    () => sampler.close(),
    () => fake.close(),
  );
  const next = async (): Promise<WeightsUpdate> => {
    const tokens = Int32Array.from({ length: 40 }, (_, i) => (i * 7) % info.vocabSize);
    await trainer.forwardBackward({
      ...{ model: "policy", outputs: { logprob: true }, normalizer: 1 },
      units: [{ sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => (i === 0 ? 0 : 1)) }] }],
      loss: (_, { logprob }) => ({ logprob: Float32Array.from(logprob as Float32Array, () => -1) }),
    });
    await trainer.optimStep({ model: "policy", learningRate: 0.3 });
    const { version, checksum } = await trainer.publish("policy");
    return {
      ...{ model: "policy", version, checksum, inFlight: "recompute" },
      source: { kind: "trainer", address: "trainer:1" },
    };
  };
  return { trainer, fake, sampler, next, directory };
}

test("ten updates are each proved by a probe of at least 256 prompt tokens", async () => {
  const { sampler, next, directory, fake } = await started();
  await expect(sampler.sampler("policy")).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  for (let i = 0; i < 10; i++) {
    const update = await next();
    const { probeDifference } = await sampler.update(update);
    expect(probeDifference).toBeLessThan(1e-6);
    const stream = await sampler.sampler("policy");
    expect([...(await stream.sample(asked)).versions]).toEqual(Array.from({ length: 8 }, () => update.version));
    expect((await sampler.describe()).models).toEqual([
      { model: "policy", version: update.version, checksum: update.checksum },
    ]);
  }
  expect(fake.requests.filter((path) => path === "/collective_rpc")).toHaveLength(10);
  expect(existsSync(join(directory, "version-1"))).toBe(false);
});

test.each<Fault>(["reload ignored", "prefix cache kept", "log-probabilities wrong"])(
  "%s: the probe takes the sampler out of service",
  async (fault) => {
    const { sampler, next, fake } = await started();
    await sampler.update(await next());
    const stream = await sampler.sampler("policy");
    fake.fault = fault;
    const [failed, held] = await Promise.allSettled([sampler.update(await next()), stream.sample(asked)]);
    expect(failed).toMatchObject({ reason: { code: "SAMPLER_PROBE_FAILED" } });
    // A sequence that was submitted meanwhile is not returned.
    expect(held).toMatchObject({ reason: { code: "SAMPLER_PROBE_FAILED" } });
    fake.fault = undefined;
    await expect(sampler.update(await next())).rejects.toMatchObject({ code: "SAMPLER_PROBE_FAILED" });
  },
);

test("weights that the trainer has replaced are refused, and the newest are taken", async () => {
  const { sampler, next, directory } = await started();
  const [old, newest] = [await next(), await next()];
  await expect(sampler.update(old)).rejects.toMatchObject({ code: "WEIGHTS_VERSION" });
  expect((await sampler.describe()).models).toEqual([]);
  await sampler.update(newest);
  expect(readdirSync(directory)).toEqual([`version-${newest.version}`]);
});

test("a server that was started again gets its weights again", async () => {
  const { sampler, next, fake } = await started();
  const update = await next();
  await sampler.update(update);
  fake.restart();
  const stream = await sampler.sampler("policy");
  await expect(stream.sample(asked)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  expect((await sampler.describe()).models).toEqual([]);
  await sampler.update(update);
  await (await sampler.sampler("policy")).sample(asked);
});
