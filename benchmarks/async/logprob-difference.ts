import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectEngine } from "@mrlm/client";
import { launchEngine } from "@mrlm/engine-torch";
import { silentLogger } from "@mrlm/kit/service";
import { ProvedSampler } from "@mrlm/runtime";
import { vllm } from "@mrlm/sampler-vllm";
import { vllmOptions } from "../../plugins/sampler-vllm/src/options.ts";
import type { EngineUnit } from "@mrlm/spec";
import type { Engine, SampleRequest, SampleResult } from "@mrlm/spec/host";
import { VllmProcess } from "./vllm-process.ts";

const UPDATES = 10;
const SEQUENCES = 4;
const TOKENS = 25;
const VOCABULARY = 64;
const MODEL = {
  ...{ model_type: "qwen2", vocab_size: VOCABULARY, hidden_size: 256, intermediate_size: 512, num_hidden_layers: 3 },
  ...{ num_attention_heads: 8, num_key_value_heads: 4, max_position_embeddings: 1024, tie_word_embeddings: true },
  ...{ initializer_range: 0.08, bos_token_id: 0, eos_token_id: 1 },
};

/** Largest differences in nats between vLLM and the trainer. */
export interface LogprobDifference {
  /** Of the tokens that vLLM sampled. */
  readonly largest: number;
  /** Of the probes of its weights. */
  readonly probed: number;
  readonly tokens: number;
}

/**
 * Trains a model for ten steps, each of which a real vLLM server samples 100 tokens with, and compares their log-probabilities with those of the trainer. Rejects
 * where a token has another version than the newest.
 * @param python interpreter with vLLM
 * @param options number format of the server, and what the probe accepts
 */
export async function logprobDifference(
  python: string,
  { dtype = "float32", probeLimit }: { readonly dtype?: "float32" | "bfloat16"; readonly probeLimit?: number } = {},
): Promise<LogprobDifference> {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-vllm-"));
  const launched = await launchEngine({ device: "cpu", threads: 1, logDirectory: directory });
  const { address, token } = launched;
  const engine = await connectEngine(address, { token });
  const server = await VllmProcess.create(python, { maxTokens: MODEL.max_position_embeddings, dtype });
  try {
    const source = { kind: "random", config: MODEL, seed: 1, tokenizerFiles: {} } as const;
    await engine.createModel({ model: "policy", source, role: "policy", trainable: true });
    const first = join(directory, "first");
    await engine.writeWeights("policy", first, { untied: true });
    await server.start(first);
    const sampler = new ProvedSampler({
      sampler: await vllm.open({
        url: server.url,
        options: vllmOptions.parse({ sequence_seconds: 120, update_seconds: 120 }),
        signal: AbortSignal.timeout(60_000),
      }),
      directory: join(directory, "weights"),
      ...(probeLimit === undefined ? {} : { probeLimit }),
      logger: silentLogger,
      connect: (from) => connectEngine(from.address, from.token === undefined ? {} : { token: from.token }),
    });
    let [largest, tokens, probed] = [0, 0, 0];
    for (let step = 1; step <= UPDATES; step++) {
      const { version, checksum } = await next(engine, step);
      const trainer = { kind: "trainer", address, token } as const;
      const update = { model: "policy", version, checksum, source: trainer, inFlight: "recompute" } as const;
      probed = Math.max(probed, (await sampler.update(update)).probeDifference as number);
      const requests = Array.from({ length: SEQUENCES }, (_, i): SampleRequest => {
        const params = { temperature: 0.8, maxTokens: TOKENS, stopTokenIds: [] };
        return { prompt: random(260 + i, 100 * step + i), params, key: BigInt(step * SEQUENCES + i) };
      });
      const stream = await sampler.sampler("policy");
      const results = await Promise.all(requests.map((request) => stream.sample(request)));
      await stream.close();
      if (results.some(({ versions }) => versions.some((each) => each !== version)))
        throw new Error(`vLLM sampled with other weights than version ${version}`);
      tokens += results.reduce((sum, result) => sum + result.tokens.length, 0);
      largest = Math.max(largest, await differenceOf(engine, requests, results));
    }
    await sampler.close();
    return { largest, probed, tokens };
  } finally {
    await server.kill();
    await engine.close();
    await launched.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

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
