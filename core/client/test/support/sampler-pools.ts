// Engines, samplers and pools of the tests of sampler pools.
import { afterEach } from "@jest/globals";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "@mrlm/spec";
import type { CreateModelOptions, Engine, ExternalSampler, Sampler, SampleResult } from "@mrlm/spec/host";
import { serveEngine, serveSampler } from "@mrlm/server";
import { BigramEngine, type BigramExternalSampler } from "@mrlm/testing";
import { connectEngine, SamplerPool } from "../../src/index.ts";
import type { SamplerPoolOptions } from "../../src/engine/sampler-pool.ts";

/** Model of the tests. */
export const policy: CreateModelOptions = {
  model: "policy",
  role: "policy",
  trainable: true,
  source: {
    kind: "random",
    config: { vocab_size: 7, eos_token_id: 6, initializer_range: 1 },
    seed: 1,
    tokenizerFiles: {},
  },
};

/** Work after each test of a file that calls {@link cleanUpAfterEach}, which is done in reverse order. */
export const cleanups: (() => unknown)[] = [];

export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });
}

/** An engine behind a socket, with a pool whose warnings are kept. */
export async function trained(options: Partial<SamplerPoolOptions> = {}, lost = new AbortController().signal) {
  const local = new BigramEngine({ deterministic: options.exact ?? true });
  const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const pool = new SamplerPool({ logger, exact: true, trainerSamples: false, pauseMs: 20, ...options });
  const engine = await connectEngine(`127.0.0.1:${server.port}`, { samplers: pool, lost });
  cleanups.push(
    () => server.close(),
    () => engine.close(),
    () => pool.close(),
  );
  await engine.createModel(policy);
  return { local, engine, pool, lines };
}

/** Serves a sampler, and counts the streams that were opened on it. */
export async function serve(sampler: ExternalSampler, port = 0) {
  const counts = { streams: 0 };
  const counted: ExternalSampler = {
    describe: () => sampler.describe(),
    readTokenizer: (model) => sampler.readTokenizer(model),
    update: (update) => sampler.update(update),
    close: () => sampler.close(),
    async sampler(model) {
      counts.streams++;
      return sampler.sampler(model);
    },
  };
  const server = await serveSampler({ sampler: counted, address: `127.0.0.1:${port}` });
  cleanups.push(() => server.close());
  return { address: `127.0.0.1:${server.port}`, port: server.port, counts, stop: () => server.close() };
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(5);
}

export async function draw(engine: Pick<Engine, "sampler">, seed = 1n): Promise<SampleResult[]> {
  const sampler = await engine.sampler("policy");
  const params = { temperature: 1, maxTokens: 20, stopTokenIds: [6] };
  const results = Array.from({ length: 4 }, (_, i) =>
    sampler.sample({ prompt: Int32Array.of(1 + i), params, key: seed + BigInt(i) }),
  );
  sampler.barrier();
  try {
    return await Promise.all(results);
  } finally {
    await sampler.close();
  }
}

/** A sampler with one fault: overrides of another one's methods. */
export function faulty(sampler: BigramExternalSampler, fault: Partial<ExternalSampler>): ExternalSampler {
  return {
    describe: () => sampler.describe(),
    readTokenizer: (model) => sampler.readTokenizer(model),
    sampler: (model) => sampler.sampler(model),
    update: (update) => sampler.update(update),
    close: () => sampler.close(),
    ...fault,
  };
}

export function changed(sampler: Promise<Sampler>, change: (result: SampleResult) => SampleResult): Promise<Sampler> {
  return sampler.then((whole) => ({
    sample: async (request, options) => change(await whole.sample(request, options)),
    barrier: () => whole.barrier(),
    close: () => whole.close(),
  }));
}
