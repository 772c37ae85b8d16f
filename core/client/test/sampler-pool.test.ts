import { expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "@mrlm/spec";
import type { ExternalSampler, SampleResult } from "@mrlm/spec/host";
import { serveEngine } from "@mrlm/server";
import { BigramEngine, BigramExternalSampler } from "@mrlm/testing";
import { SamplerMember } from "../src/engine/sampler-member.ts";
import { connectEngine, SamplerPool } from "../src/index.ts";
import { fragileProxy } from "./support/fragile-proxy.ts";
import {
  policy,
  cleanUpAfterEach,
  cleanups,
  trained,
  serve,
  until,
  draw,
  faulty,
  changed,
} from "./support/sampler-pools.ts";

cleanUpAfterEach();

test("each published version is sampled by another process, with the results of the trainer", async () => {
  const { local, engine, pool } = await trained();
  const other = await serve(new BigramExternalSampler(local));
  pool.add({ name: "other", address: other.address });
  await until(() => pool.serving().length === 1);
  // Before the first publication the trainer alone has the model.
  expect((await draw(engine))[0]?.versions[0]).toBe(0);
  expect(other.counts.streams).toBe(0);
  for (let version = 1; version <= 3; version++) {
    await engine.publish("policy");
    expect(await draw(engine)).toEqual(await draw(local));
    expect(other.counts.streams).toBe(version);
    await local.forwardBackward({
      model: "policy",
      units: [{ sequences: [{ tokens: Int32Array.of(1, 2), mask: Uint8Array.of(0, 1) }] }],
      outputs: { logprob: true },
      normalizer: 1,
      loss: () => ({ logprob: Float32Array.of(-1) }),
    });
    await local.optimStep({ model: "policy", learningRate: 0.1 });
  }
});

test("the weights of a checkpoint are sampled by another process from the first wave", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-pool-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const before = await trained();
  const { version, checksum } = await before.engine.publish("policy");
  await before.engine.save(join(folder, "checkpoint"));
  const { local, engine, pool } = await trained();
  const sampler = new BigramExternalSampler(local);
  const other = await serve(sampler);
  pool.add({ name: "other", address: other.address });
  await until(() => pool.serving().length === 1);
  await engine.load(join(folder, "checkpoint"));
  expect(await draw(engine)).toEqual(await draw(before.local));
  expect(other.counts.streams).toBe(1);
  expect((await sampler.describe()).models).toEqual([{ model: "policy", version, checksum }]);
});

test("streams are divided among samplers, and the trainer where it has nothing else to do", async () => {
  for (const trainerSamples of [false, true]) {
    const { local, engine, pool } = await trained({ trainerSamples });
    const [one, two] = [await serve(new BigramExternalSampler(local)), await serve(new BigramExternalSampler(local))];
    pool.add({ name: "one", address: one.address });
    pool.add({ name: "two", address: two.address });
    await engine.publish("policy");
    await until(() => pool.serving().every(({ info }) => info.models.length >= 0) && pool.serving().length === 2);
    const samplers = await Promise.all(Array.from({ length: 6 }, () => engine.sampler("policy")));
    const params = { temperature: 1, maxTokens: 3, stopTokenIds: [] };
    const results = [];
    for (const sampler of samplers) {
      results.push(sampler.sample({ prompt: Int32Array.of(1), params, key: 1n }));
      sampler.barrier();
      await results.at(-1);
    }
    const expected = trainerSamples ? 2 : 3;
    expect([one.counts.streams, two.counts.streams]).toEqual([expected, expected]);
    for (const sampler of samplers) await sampler.close();
  }
});

test("with a wait, sequences wait for the first sampler, and the trainer samples when it is over", async () => {
  const { local, engine, pool, lines } = await trained({ waitMs: 600_000 });
  await engine.publish("policy");
  const results = draw(engine);
  await until(() => lines.some((line) => line.includes("no sampler serves: sequences wait for one, up to 600 s")));
  const late = await serve(new BigramExternalSampler(local));
  pool.add({ name: "late", address: late.address });
  expect(await results).toEqual(await draw(local));
  expect(late.counts.streams).toBe(1);
  await pool.remove("late");
  const rest = draw(engine);
  await until(() => lines.filter((line) => line.includes("no sampler serves")).length === 2);
  // The end of the pool ends the wait, as its last millisecond does.
  await pool.close();
  expect(await rest).toEqual(await draw(local));
  expect(late.counts.streams).toBe(1);
});

test("an outage of all samplers is reported once, and so is the next one", async () => {
  const { local, engine, pool, lines } = await trained({ waitMs: 20 });
  await engine.publish("policy");
  const reports = () => lines.filter((line) => line.includes("no sampler serve")).map((line) => line.split(":")[0]);
  const outage = ["no sampler serves", "no sampler served within 0.02 s"];
  for (let i = 0; i < 3; i++) expect(await draw(engine)).toEqual(await draw(local));
  expect(reports()).toEqual(outage);
  const late = await serve(new BigramExternalSampler(local));
  pool.add({ name: "late", address: late.address });
  await until(() => pool.serving().length === 1);
  await draw(engine);
  expect(late.counts.streams).toBe(1);
  await pool.remove("late");
  for (let i = 0; i < 2; i++) await draw(engine);
  expect(reports()).toEqual([...outage, ...outage]);
});

test("the end of the waits lets the trainer sample, and the end of the trainer ends the sequences that wait", async () => {
  const end = new AbortController();
  const { local, engine, lines } = await trained({ waitMs: 600_000, waitEnd: end.signal });
  await engine.publish("policy");
  const results = draw(engine);
  await until(() => lines.some((line) => line.includes("sequences wait for one")));
  end.abort();
  expect(await results).toEqual(await draw(local));

  const lost = new AbortController();
  const other = await trained({ waitMs: 600_000 }, lost.signal);
  await other.engine.publish("policy");
  const waiting = Promise.allSettled([draw(other.engine)]);
  await until(() => other.lines.some((line) => line.includes("sequences wait for one")));
  lost.abort(new Error("The engine ended."));
  expect(await waiting).toMatchObject([{ reason: lost.signal.reason }]);
});

test("waves of a sampler that ends are sampled by another one; it serves again after its return", async () => {
  const { local, engine, pool, lines } = await trained();
  const sampler = new BigramExternalSampler(local);
  const held = Promise.withResolvers<void>();
  const first = await serve(
    faulty(sampler, {
      sampler: (model) =>
        sampler.sampler(model).then((whole) => ({
          sample: async (request, options) => (await held.promise, whole.sample(request, options)),
          barrier: () => whole.barrier(),
          close: () => whole.close(),
        })),
    }),
  );
  pool.add({ name: "first", address: first.address });
  await engine.publish("policy");
  await until(() => pool.serving().length === 1);
  const drawn = draw(engine);
  await until(() => first.counts.streams === 1);
  await first.stop();
  expect(await drawn).toEqual(await draw(local));
  expect(lines.filter((line) => line.includes("out of service: [SAMPLER_UNAVAILABLE]"))).toHaveLength(1);
  held.resolve();
  const again = await serve(new BigramExternalSampler(local), first.port);
  await until(() => pool.serving().length === 1);
  expect(await draw(engine)).toEqual(await draw(local));
  expect(again.counts.streams).toBe(1);
});

test("a lost connection is reported by its sampler, its address and the cause, without the text of gRPC", async () => {
  const { local, engine, pool, lines } = await trained();
  const sampler = new BigramExternalSampler(local);
  const held = Promise.withResolvers<void>();
  const first = await serve(faulty(sampler, { sampler: (model) => held.promise.then(() => sampler.sampler(model)) }));
  const proxy = await fragileProxy(first.port);
  cleanups.push(() => proxy.close());
  pool.add({ name: "first", address: `127.0.0.1:${proxy.port}` });
  await engine.publish("policy");
  await until(() => pool.serving().length === 1);
  const drawn = draw(engine);
  await until(() => first.counts.streams === 1);
  proxy.cut();
  await until(() => lines.some((line) => line.includes("out of service")));
  held.resolve();
  expect(await drawn).toEqual(await draw(local));
  expect(lines.find((line) => line.includes("out of service"))).toMatch(
    /^sampler first at (\S+) is out of service: \[SAMPLER_UNAVAILABLE\] The sampler at \1 cannot be reached: (?!.*Resolution note)\w/,
  );
});

test.each<[string, string, (sampler: BigramExternalSampler) => Partial<ExternalSampler>]>([
  [
    "a wrong version",
    "SAMPLER_INVALID",
    (s) => ({
      sampler: (model) => changed(s.sampler(model), (r) => ({ ...r, versions: r.versions.map((v) => v + 1) })),
    }),
  ],
  [
    "log-probabilities that are no numbers",
    "SAMPLER_INVALID",
    (s) => ({ sampler: (model) => changed(s.sampler(model), (r) => ({ ...r, logprobs: r.logprobs.map(() => NaN) })) }),
  ],
  [
    "half a response",
    "MESSAGE_INVALID",
    (s) => ({
      sampler: (model) =>
        changed(s.sampler(model), (r) => ({ ...r, logprobs: r.logprobs.subarray(0, r.tokens.length / 2) })),
    }),
  ],
  [
    "an update to another version",
    "SAMPLER_INVALID",
    (s) => ({ update: async (u) => ({ ...(await s.update(u)), version: 9 }) }),
  ],
  [
    "weights of another checksum",
    "SAMPLER_INVALID",
    (s) => ({ update: async (u) => ({ ...(await s.update(u)), checksum: "other" }) }),
  ],
  [
    "another device",
    "SAMPLER_DIFFERS",
    (s) => ({ describe: async () => ({ ...(await s.describe()), deviceName: "another" }) }),
  ],
])("%s takes a sampler out of service until it is restarted", async (_, code, fault) => {
  const { local, engine, pool, lines } = await trained();
  const sampler = new BigramExternalSampler(local);
  const bad = await serve(faulty(sampler, fault(sampler)));
  pool.add({ name: "bad", address: bad.address });
  await engine.publish("policy");
  await until(() => lines.length > 0);
  expect(await draw(engine)).toEqual(await draw(local));
  await until(() => lines.some((line) => line.includes(`sampler bad at ${bad.address} is out of service: [${code}]`)));
  const opened = bad.counts.streams;
  await setTimeout(60);
  expect(await draw(engine)).toEqual(await draw(local));
  expect([pool.serving(), bad.counts.streams]).toEqual([[], opened]);
  await bad.stop();
  await serve(new BigramExternalSampler(local), bad.port);
  await until(() => pool.serving().length === 1);
});

test("a process that does not update samplers finds those with the weights of the trainer", async () => {
  const { local, engine, pool } = await trained();
  const other = await serve(new BigramExternalSampler(local));
  pool.add({ name: "other", address: other.address });
  await engine.publish("policy");
  await until(() => pool.serving().length === 1);
  const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const follower = new SamplerPool({ logger: silent, exact: true, trainerSamples: false, updates: false, pauseMs: 20 });
  const worker = await connectEngine(`127.0.0.1:${server.port}`, { samplers: follower });
  cleanups.push(
    () => server.close(),
    () => worker.close(),
    () => follower.close(),
  );
  follower.add({ name: "other", address: other.address });
  await until(() => follower.serving().length === 1);
  expect(await draw(worker)).toEqual(await draw(local));
  expect(other.counts.streams).toBe(1);
  // Another process publishes: the sampler has earlier weights until that process updates it.
  await local.publish("policy");
  expect(await draw(worker)).toEqual(await draw(local));
  expect(other.counts.streams).toBe(1);
});

test("without exact bits a sampler with earlier weights samples on", async () => {
  const { local, engine, pool } = await trained({ exact: false });
  const other = await serve(new BigramExternalSampler(local, { deterministic: false }));
  pool.add({ name: "other", address: other.address });
  await engine.publish("policy", "wait");
  await until(() => pool.serving().length === 1);
  const results = await draw(engine);
  expect(other.counts.streams).toBe(1);
  expect(results.map(({ versions }) => versions[0])).toEqual([1, 1, 1, 1]);
});

test("with `newest`, sequences wait for the update of a sampler that promises no bits", async () => {
  const { local, engine, pool } = await trained({ exact: false, newest: true });
  const sampler = new BigramExternalSampler(local, { deterministic: false });
  const updating = Promise.withResolvers<void>();
  const other = await serve(
    faulty(sampler, {
      async update(update) {
        if (update.version === 2) await updating.promise;
        return await sampler.update(update);
      },
    }),
  );
  pool.add({ name: "other", address: other.address });
  await engine.publish("policy");
  await until(() => pool.serving().length === 1);
  await engine.publish("policy");
  const drawn = draw(engine);
  void drawn.catch(() => undefined);
  // Ends early where the sampler is used with its earlier weights.
  for (let i = 0; i < 100 && other.counts.streams === 0; i++) await setTimeout(10);
  expect(other.counts.streams).toBe(0);
  updating.resolve();
  expect((await drawn).map(({ versions }) => versions[0])).toEqual([2, 2, 2, 2]);
  expect(other.counts.streams).toBe(1);
});

test("a sampler that is removed in the middle of a wave ends no sequence", async () => {
  const { local, engine, pool } = await trained();
  const sampler = new BigramExternalSampler(local);
  const held = Promise.withResolvers<void>();
  const other = await serve(
    faulty(sampler, {
      sampler: (model) =>
        sampler.sampler(model).then((whole) => ({
          sample: async (request, options) => (await held.promise, whole.sample(request, options)),
          barrier: () => whole.barrier(),
          close: () => whole.close(),
        })),
    }),
  );
  pool.add({ name: "other", address: other.address });
  await engine.publish("policy");
  await until(() => pool.serving().length === 1);
  const drawn = draw(engine);
  await until(() => other.counts.streams === 1);
  await pool.remove("other");
  expect(await drawn).toEqual(await draw(local));
  held.resolve();
});

test("a sampler that was added before the trainer was known is compared with it", async () => {
  const local = new BigramEngine();
  const server = await serveEngine({ engine: local, address: "127.0.0.1:0" });
  const sampler = new BigramExternalSampler(local);
  const another = async () => ({ ...(await sampler.describe()), threads: 2 });
  const { address } = await serve(faulty(sampler, { describe: another }));
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const pool = new SamplerPool({ logger, exact: true, trainerSamples: false, pauseMs: 20 });
  pool.add({ name: "early", address });
  const engine = await connectEngine(`127.0.0.1:${server.port}`, { samplers: pool });
  cleanups.push(
    () => server.close(),
    () => engine.close(),
    () => pool.close(),
  );
  await until(() => lines.length > 0);
  expect(lines).toEqual([
    `sampler early at ${address} is out of service: [SAMPLER_DIFFERS] The sampler early would compute other bits than the trainer (threads: 2, the trainer: 1).`,
  ]);
});

test("weights that changed without an update are found by the checksum that the sampler states", async () => {
  const { local, engine, pool, lines } = await trained();
  const sampler = new BigramExternalSampler(local);
  // It has lost its weights, and states that it has those of the version.
  const forgetful = await serve(
    faulty(sampler, {
      update: async ({ version, checksum }) => ({ version, checksum, seconds: 0 }),
    }),
  );
  pool.add({ name: "forgetful", address: forgetful.address });
  await engine.publish("policy");
  expect(await draw(engine)).toEqual(await draw(local));
  await until(() => pool.serving().length === 1 || lines.length > 0);
  expect(await draw(engine)).toEqual(await draw(local));
  await until(() => lines.some((line) => line.includes("sampler forgetful at") && line.includes("out of service")));
});

test("in throughput mode sequences of one stream stay together, and streams are divided", async () => {
  const { local, engine, pool } = await trained({ exact: false });
  const two = await Promise.all([0, 1].map(() => serve(new BigramExternalSampler(local, { deterministic: false }))));
  two.forEach(({ address }, i) => pool.add({ name: `sampler-${i}`, address }));
  await engine.publish("policy");
  await until(() => pool.serving().length === 2);
  const results = await Promise.all([1n, 11n, 21n, 31n].map((seed) => draw(engine, seed)));
  expect(two.map(({ counts }) => counts.streams)).toEqual([2, 2]);
  const alone = new BigramEngine({ deterministic: false });
  await alone.createModel(policy);
  await alone.publish("policy");
  expect(results).toEqual(await Promise.all([1n, 11n, 21n, 31n].map((seed) => draw(alone, seed))));
});

test.each([
  [[4, 5], [-1, 0], true],
  [[4, 6], [-1, 0], false],
  [[3, 5], [-1, 0], false],
  [[4, 5], [-1, 0.1], false],
])(
  "a result of versions %j with log-probabilities %j of a sampler that had 4 to 5: %s",
  (versions, logprobs, isSound) => {
    const member = new SamplerMember({ name: "other", address: "127.0.0.1:1" }, {} as never);
    const result = { versions: Int32Array.from(versions), logprobs: Float32Array.from(logprobs) };
    const check = (): void => member.checkResult(result as unknown as SampleResult, 4, 5);
    if (isSound) check();
    else expect(check).toThrow(expect.objectContaining({ code: "SAMPLER_INVALID" }));
  },
);
