import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { silentLogger } from "@mrlm/kit";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import type { Engine, EngineUnit, SampleRequest, SampleResult } from "@mrlm/spec";
import { startEngine, temporaryDirectory } from "../e2e/support/real-engine.ts";
import { INSTALL_MS, VllmProcess, vllmPython } from "./support/vllm-process.ts";

const UPDATES = 10;
const SEQUENCES = 4;
const TOKENS = 25;
const VOCABULARY = 64;
const directory = temporaryDirectory();
let started: Awaited<ReturnType<typeof startEngine>>;
let server: VllmProcess;

beforeAll(async () => {
  started = await startEngine();
  const config = {
    ...{ model_type: "qwen2", vocab_size: VOCABULARY, hidden_size: 256, intermediate_size: 512, num_hidden_layers: 3 },
    ...{ num_attention_heads: 8, num_key_value_heads: 4, max_position_embeddings: 1024, tie_word_embeddings: true },
    ...{ initializer_range: 0.08, bos_token_id: 0, eos_token_id: 1 },
  };
  const source = { kind: "random", config, seed: 1, tokenizerFiles: {} } as const;
  await started.engine.createModel({ model: "policy", source, role: "policy", trainable: true });
  const first = join(directory, "first");
  await started.engine.writeWeights("policy", first, { untied: true });
  server = await VllmProcess.start(await vllmPython(), first);
}, INSTALL_MS);

afterAll(async () => {
  await server?.kill();
  await started?.stop();
});

const random = (count: number, salt: number): Int32Array =>
  Int32Array.from(
    { length: count },
    (_, i) => Math.trunc(Math.abs(Math.sin(salt * 977 + i * 12.9898)) * 43_758) % VOCABULARY,
  );

/** Trains one step on random tokens, and publishes. */
async function next(engine: Engine, step: number) {
  const tokens = random(64, step);
  const unit: EngineUnit = { sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => (i === 0 ? 0 : 1)) }] };
  await engine.forwardBackward({
    ...{ model: "policy", outputs: { logprob: true }, normalizer: 63, units: [unit] },
    loss: [{ logprob: new Float32Array(63).fill(-1) }],
  });
  await engine.optimStep({ model: "policy", learningRate: 1e-2 });
  return await engine.publish("policy");
}

/** Largest difference between the log-probabilities of samples and those of the trainer. */
async function differenceOf(engine: Engine, requests: readonly SampleRequest[], results: readonly SampleResult[]) {
  const units = results.map(({ tokens }, i): EngineUnit => {
    const { prompt } = requests[i] as SampleRequest;
    const all = Int32Array.of(...prompt, ...tokens);
    return { sequences: [{ tokens: all, mask: Uint8Array.from(all, (_, at) => (at < prompt.length ? 0 : 1)) }] };
  });
  const outputs = await engine.forward({ model: "policy", units, outputs: { logprob: true }, temperature: 0.8 });
  return Math.max(
    ...outputs.flatMap(({ logprob }, i) =>
      Array.from(logprob as Float32Array, (each, at) => Math.abs(each - (results[i]?.logprobs[at] as number))),
    ),
  );
}

test("log-probabilities are those of the trainer to 1e-4 on 1,000 tokens over ten updates", async () => {
  const { engine, section } = started;
  const opening = {
    url: server.url,
    options: { sequence_seconds: 120, update_seconds: 120 },
    signal: AbortSignal.timeout(60_000),
  };
  const token = readFileSync(section.token_file, "utf8");
  const sampler = new ProvedSampler({
    sampler: await vllm.open(opening),
    directory: join(directory, "weights"),
    logger: silentLogger,
    connect: (source) => connectEngine(source.address, source.token === undefined ? {} : { token: source.token }),
  });
  let [largest, compared, probed] = [0, 0, 0];
  for (let step = 1; step <= UPDATES; step++) {
    const { version, checksum } = await next(engine, step);
    const source = { kind: "trainer", address: section.address, token } as const;
    const result = await sampler.update({ model: "policy", version, checksum, source, inFlight: "recompute" });
    probed = Math.max(probed, result.probeDifference as number);
    const stream = await sampler.sampler("policy");
    const requests = Array.from({ length: SEQUENCES }, (_, i): SampleRequest => {
      const params = { temperature: 0.8, maxTokens: TOKENS, stopTokenIds: [] };
      return { prompt: random(260 + i, 100 * step + i), params, key: BigInt(step * SEQUENCES + i) };
    });
    const results = await Promise.all(requests.map((request) => stream.sample(request)));
    await stream.close();
    compared += results.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect(results.every(({ versions }) => versions.every((each) => each === version))).toBe(true);
    largest = Math.max(largest, await differenceOf(engine, requests, results));
  }
  await sampler.close();
  console.log(JSON.stringify({ vllm_logprob_max_diff: largest, probe_max_diff: probed, tokens: compared }));
  expect(compared).toBe(UPDATES * SEQUENCES * TOKENS);
  expect(largest).toBeLessThan(1e-4);
}, 300_000);
