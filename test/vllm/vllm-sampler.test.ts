import { afterEach, expect, test } from "@jest/globals";
import { mkdtempSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { ExternalSampler, InFlight, SampleRequest } from "@mrlm/spec/host";
import { vllm } from "@mrlm/sampler-vllm";
import { vllmOptions } from "../../plugins/sampler-vllm/src/options.ts";
import { type Bigram, writeBigram } from "./support/bigram-directory.ts";
import { FakeVllm, type Fault } from "./support/fake-vllm.ts";

const VOCABULARY = 12;
const folder = mkdtempSync(join(tmpdir(), "mrlm-vllm-"));
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Returns a table of logits; another one for each seed. */
function bigram(seed: number): Bigram {
  const logits = Float64Array.from({ length: VOCABULARY ** 2 }, (_, i) => 2 * Math.sin(seed + i * i));
  return { vocabSize: VOCABULARY, logits };
}

const weights = [0, 1, 2, 3].map((seed) => {
  const directory = join(folder, `w${seed}`);
  writeBigram(directory, bigram(seed));
  return { directory, table: bigram(seed) };
});

const update = (sampler: ExternalSampler, version: number, inFlight: InFlight = "recompute") =>
  sampler.update({
    ...{ model: "policy", version, checksum: `c${version}`, inFlight },
    source: { kind: "directory", directory: weights[version]?.directory as string },
  });

async function started(limits: object = {}): Promise<{ fake: FakeVllm; sampler: ExternalSampler }> {
  const fake = await new FakeVllm(bigram(0)).start();
  const options = vllmOptions.parse(limits);
  const sampler = await vllm.open({ url: fake.url, options, signal: new AbortController().signal });
  closing.push(
    () => sampler.close(),
    () => fake.close(),
  );
  return { fake, sampler };
}

const request = (params: Partial<SampleRequest["params"]> = {}, key = 1n): SampleRequest => ({
  prompt: Int32Array.of(3, 1, 4),
  params: { temperature: 0.8, maxTokens: 20, stopTokenIds: [], ...params },
  key,
});

/** Log-probabilities of tokens after a prompt, by the tables of their versions. */
function expected({ prompt }: SampleRequest, tokens: Int32Array, versions: Int32Array): number[] {
  return Array.from(tokens, (token, i) => {
    const last = i === 0 ? (prompt.at(-1) as number) : (tokens[i - 1] as number);
    const { logits } = (weights[versions[i] as number] as { table: Bigram }).table;
    const row = Array.from(logits.subarray(last * VOCABULARY, (last + 1) * VOCABULARY), (logit) => logit / 0.8);
    return (row[token] as number) - Math.log(row.reduce((sum, value) => sum + Math.exp(value), 0));
  });
}

function expectOf(asked: SampleRequest, result: { tokens: Int32Array; logprobs: Float32Array; versions: Int32Array }) {
  const found = expected(asked, result.tokens, result.versions);
  expect(Math.max(0, ...found.map((each, i) => Math.abs(each - (result.logprobs[i] as number))))).toBeLessThan(1e-5);
}

test("a sequence has the log-probabilities and the version of its weights, and equal tokens for an equal key", async () => {
  const { sampler } = await started();
  await expect(sampler.sampler("policy")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  expect(await update(sampler, 1)).toMatchObject({ version: 1, checksum: "" });
  expect((await sampler.describe()).models).toEqual([{ model: "policy", version: 1, checksum: "c1" }]);
  const stream = await sampler.sampler("policy");
  const [first, again, other] = await Promise.all([
    stream.sample(request()),
    stream.sample(request()),
    stream.sample(request({ stopTokenIds: [0, 1, 2, 3, 4, 5] }, 2n)),
  ]);
  expectOf(request(), first);
  expect(again).toEqual(first);
  expect([first.stopReason, first.tokens.length, other.stopReason]).toEqual(["length", 20, "stop"]);
  expect([...new Set(first.versions)]).toEqual([1]);
  expect(Object.keys(await sampler.readTokenizer("policy"))).toEqual(["tokenizer.json"]);
  await expect(stream.sample(request({ minTokens: 2, stopTokenIds: [1] }))).rejects.toMatchObject({
    code: "OPTIONS_INVALID",
  });
});

test.each([
  ["recompute", [1, 2]],
  ["keep", [1, 2]],
] as const)("in flight %s: each token has the log-probability of its version", async (inFlight, versions) => {
  const { fake, sampler } = await started();
  await update(sampler, 1);
  const stream = await sampler.sampler("policy");
  fake.hold(7);
  const chunks: number[] = [];
  const running = stream.sample(request(), { onTokens: ({ tokens }) => void chunks.push(tokens.length) });
  while (fake.running === 0) await turn();
  // Each token takes a turn of the event loop.
  for (let i = 0; i < 50; i++) await turn();
  await update(sampler, 2, inFlight);
  const result = await running;
  expectOf(request(), result);
  expect([...new Set(result.versions)]).toEqual(versions);
  expect(chunks.reduce((sum, count) => sum + count, 0)).toBe(20);
});

test("a cancelled sequence ends with the tokens so far", async () => {
  const { fake, sampler } = await started();
  await update(sampler, 1);
  const stream = await sampler.sampler("policy");
  fake.hold(7);
  const cancel = new AbortController();
  const running = stream.sample(request(), { signal: cancel.signal });
  while (fake.running === 0) await turn();
  cancel.abort();
  const result = await running;
  expect(result.stopReason).toBe("cancelled");
  expect(result.tokens.length).toBeLessThanOrEqual(7);
  expectOf(request(), result);
});

test.each<[Fault, string]>([
  ["version wrong", "SAMPLER_INVALID"],
  ["log-probability missing", "SAMPLER_INVALID"],
  ["token beyond the stop", "SAMPLER_INVALID"],
  ["no JSON", "SAMPLER_INVALID"],
  ["cut", "SAMPLER_UNAVAILABLE"],
  ["silent", "SAMPLER_UNAVAILABLE"],
  ["slow", "SAMPLER_UNAVAILABLE"],
])("%s: a sequence is rejected with %s", async (fault, code) => {
  const { fake, sampler } = await started(fault === "silent" || fault === "slow" ? { sequence_seconds: 0.5 } : {});
  await update(sampler, 1);
  fake.fault = fault;
  const stream = await sampler.sampler("policy");
  const asked = request({ stopTokenIds: fault === "token beyond the stop" ? [0, 1, 2, 3, 4, 5] : [] });
  await expect(stream.sample(asked)).rejects.toMatchObject({ code });
});

test("a server that draws no token is found long before its sequences are too late, and needs its weights again", async () => {
  const { fake, sampler } = await started({ stall_seconds: 0.2 });
  await update(sampler, 1);
  fake.fault = "stalled";
  const stream = await sampler.sampler("policy");
  const asked = [1n, 2n].map((key) => stream.sample(request({}, key)));
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[])
    expect(reason).toMatchObject({
      code: "SAMPLER_UNAVAILABLE",
      message: expect.stringContaining("no token for 0.2 s"),
    });
  expect((await sampler.describe()).models).toEqual([]);
  fake.fault = undefined;
  await update(sampler, 2);
  expectOf(request(), await (await sampler.sampler("policy")).sample(request()));
});

test("a slow server that draws tokens has not stalled", async () => {
  const { fake, sampler } = await started({ stall_seconds: 0.4 });
  await update(sampler, 1);
  fake.fault = "slow";
  const stream = await sampler.sampler("policy");
  expectOf(request(), await stream.sample(request()));
});

test("a server that was started again is recognised by the name of its weights, and takes weights again", async () => {
  const { fake, sampler } = await started();
  await update(sampler, 1);
  const { instanceId } = await sampler.describe();
  const stream = await sampler.sampler("policy");
  fake.restart();
  await expect(stream.sample(request())).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  const info = await sampler.describe();
  expect(info.models).toEqual([]);
  expect(info.instanceId).not.toBe(instanceId);
  await update(sampler, 2);
  expectOf(request(), await (await sampler.sampler("policy")).sample(request()));
});

test("weights that the server did not read are no weights, and a directory that it cannot read is not sent", async () => {
  const { fake, sampler } = await started();
  await update(sampler, 1);
  const broken = join(folder, "broken");
  writeBigram(broken, bigram(5));
  truncateSync(join(broken, "model.safetensors"), 200);
  const tied = join(folder, "tied");
  writeBigram(tied, bigram(5), true);
  const before = fake.requests.length;
  for (const directory of [broken, tied, join(folder, "missing")])
    await expect(
      sampler.update({
        ...{ model: "policy", version: 2, checksum: "", inFlight: "recompute" },
        source: { kind: "directory", directory },
      }),
    ).rejects.toMatchObject({ code: "WEIGHTS_INVALID" });
  expect(fake.requests.length).toBe(before);
  fake.fault = "reload fails";
  await expect(update(sampler, 2)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  await expect(sampler.sampler("policy")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
});

test("a server with log-probabilities of another distribution, and none at all, are refused", async () => {
  const fake = await new FakeVllm(bigram(0)).start();
  fake.fault = "raw log-probabilities";
  const opening = {
    url: fake.url,
    options: vllmOptions.parse({ sequence_seconds: 1, update_seconds: 1 }),
    signal: AbortSignal.timeout(9_000),
  };
  await expect(vllm.open(opening)).rejects.toMatchObject({ code: "SAMPLER_INVALID" });
  await fake.close();
  await expect(vllm.open(opening)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
});
