import { afterEach, expect, test } from "@jest/globals";
import { setTimeout } from "node:timers/promises";
import { silentLogger } from "@mrlm/kit/service";
import { parseConfig, PluginHost } from "@mrlm/runtime";
import { serveEngine, serveSampler } from "@mrlm/server";
import type { CreateModelOptions } from "@mrlm/spec/host";
import { BigramEngine, BigramExternalSampler } from "@mrlm/testing";
import { connectEngines, openEngines } from "../src/services/engines.ts";
import { closePools, samplerPools } from "../src/services/samplers.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const policy = (model: string): CreateModelOptions => ({
  model,
  role: "policy",
  trainable: true,
  source: { kind: "random", config: { vocab_size: 7, eos_token_id: 6 }, seed: model.length, tokenizerFiles: {} },
});

/** Two engines that run, and the configuration that names them. */
async function running() {
  const engines = [new BigramEngine(), new BigramEngine()] as const;
  const addresses: string[] = [];
  for (const engine of engines) {
    const server = await serveEngine({ engine, address: "127.0.0.1:0" });
    cleanups.push(() => server.close());
    addresses.push(`127.0.0.1:${server.port}`);
  }
  const [address, other] = addresses as [string, string];
  const { config } = parseConfig(
    JSON.stringify({
      policies: { alice: { path: "/m" }, bob: { path: "/m" } },
      stages: [{ learners: { alice: { algorithm: "sft" } } }],
      engine: { address, sampler_wait_seconds: 600 },
      engines: { second: { address: other, models: ["bob"] } },
    }),
    { path: "/x/run.yaml" },
  );
  return { engines, config };
}

test("a run and a rollout worker have the engines of the configuration as one, each with the samplers of the run", async () => {
  const { engines, config } = await running();
  const samplers = samplerPools(config, { logger: silentLogger, updates: true, findsJoined: true });
  cleanups.push(() => closePools(samplers));
  const plugins = await PluginHost.of([]);
  const opened = await openEngines({ config, plugins, samplers, signal: new AbortController().signal });
  cleanups.push(() => opened.stop());
  const { address, engines: others } = opened.places;
  expect({ address, others }).toEqual({
    address: config.engine.address,
    others: { second: { address: config.engines?.["second"]?.address } },
  });
  expect(opened.parts.map(({ name }) => name)).toEqual(["main", "second"]);
  for (const model of ["alice", "bob"]) await opened.engine.createModel(policy(model));
  for (const [i, model] of ["alice", "bob"].entries())
    expect((await engines[i]?.describe())?.models).toMatchObject([{ model }]);

  const versions = new Map(
    await Promise.all(["alice", "bob"].map(async (model) => [model, await opened.engine.publish(model)] as const)),
  );
  const sampler = new BigramExternalSampler({
    published: (model) => engines[model === "bob" ? 1 : 0].published(model),
  });
  const served = await serveSampler({ sampler, address: "127.0.0.1:0" });
  cleanups.push(() => served.close());
  for (const pool of samplers.values()) pool.add({ name: "guest", address: `127.0.0.1:${served.port}` });
  const held = async () => (await sampler.describe()).models.map(({ model, checksum }) => [model, checksum]);
  while ((await held()).length < 2) await setTimeout(5);
  expect(new Map((await held()) as [string, string][])).toEqual(
    new Map(Array.from(versions, ([model, { checksum }]) => [model, checksum])),
  );

  // Without the run's directory it finds no samplers, and waits for none.
  const ofWorker = samplerPools(config, { logger: silentLogger, updates: false, findsJoined: false });
  cleanups.push(() => closePools(ofWorker));
  const worker = await connectEngines(config, opened.places, ofWorker);
  cleanups.push(() => worker.close());
  const drawn = await worker.sampler("bob");
  const params = { temperature: 0, maxTokens: 3, stopTokenIds: [6] };
  const sampling = drawn.sample({ prompt: Int32Array.of(1), params, key: 1n });
  drawn.barrier();
  expect((await sampling).versions).toEqual(new Int32Array((await sampling).tokens.length).fill(1));
  await drawn.close();
  await expect(connectEngines(config, { address: opened.places.address }, ofWorker)).rejects.toMatchObject({
    code: "ENGINE_UNAVAILABLE",
    message: 'The training process has no engine "second".',
  });
});

test("when one of two engines cannot be reached, the run does not begin, and the other one is released", async () => {
  const { config } = await running();
  await cleanups.splice(1, 1)[0]?.();
  const opening = openEngines({ config, plugins: await PluginHost.of([]), signal: new AbortController().signal });
  await expect(opening).rejects.toMatchObject({ code: "ENGINE_UNAVAILABLE" });
});
