// A server of vLLM on the GPU of the trainer: it sleeps while the trainer learns, and is killed in each phase of an update.
import { afterEach, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import type { ProvedSampler } from "@mrlm/runtime";
import type { SampleRequest } from "@mrlm/spec/host";
import type { Fault } from "./support/fake-vllm.ts";
import { ASKED, proved } from "./support/proved.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const started = async () => {
  const parts = await proved({ sleep: true });
  closing.push(...parts.closing);
  await parts.sampler.update(await parts.next());
  return parts;
};

/** Path of each request of an update of a sleeping server, in order. */
const PHASES = [
  "/is_sleeping",
  "/wake_up?tags=weights",
  "/pause?mode=abort",
  "/collective_rpc",
  "/wake_up?tags=kv_cache",
  "/reset_prefix_cache",
  "/update_weight_version",
  "/resume",
  "/inference/v1/generate",
];

async function draw(sampler: ProvedSampler, asked: SampleRequest = ASKED) {
  return await (await sampler.sampler("policy")).sample(asked);
}

test("a sleeping server takes the memory of its weights, reads them, then takes that of its cache", async () => {
  const { sampler, fake, next } = await started();
  await sampler.sleep();
  expect(fake.isAwake).toBe(false);
  // Another pass of the trainer changes nothing.
  const before = fake.requests.length;
  await sampler.sleep();
  expect(fake.requests.length).toBe(before);
  const update = await next();
  const { probeDifference } = await sampler.update(update);
  expect(probeDifference).toBeLessThan(1e-6);
  const made = fake.requests.slice(before).filter((path) => !["/metrics", "/weight_info"].includes(path));
  expect(made).toEqual(PHASES);
  expect(new Set((await draw(sampler)).versions)).toEqual(new Set([update.version]));
});

test("a server that does not state that it is awake is sampled", async () => {
  const { sampler, fake, next } = await started();
  fake.isSilent = true;
  await sampler.sleep();
  const update = await next();
  await sampler.update(update);
  expect(new Set((await draw(sampler)).versions)).toEqual(new Set([update.version]));
});

test("a sequence wakes the server; one that is drawn keeps it awake", async () => {
  const { sampler, fake } = await started();
  await sampler.sleep();
  const results = await Promise.all([draw(sampler), draw(sampler)]);
  expect(results.map(({ tokens }) => tokens.length)).toEqual([8, 8]);
  expect(fake.requests.filter((path) => path === "/wake_up")).toHaveLength(1);
  fake.hold(3);
  const stream = await sampler.sampler("policy");
  const cancel = new AbortController();
  const running = stream.sample(ASKED, { signal: cancel.signal });
  while (fake.running === 0) await delay(1);
  const sleeping = sampler.sleep();
  await delay(20);
  expect(fake.isAwake).toBe(true);
  cancel.abort();
  await Promise.all([running, sleeping]);
});

test.each<Fault>(["update lost in sleep", "reload ignored", "prefix cache kept"])(
  "%s: the probe finds it after a sleep",
  async (fault) => {
    const { sampler, fake, next } = await started();
    fake.fault = fault;
    await sampler.sleep();
    await expect(sampler.update(await next())).rejects.toMatchObject({ code: "SAMPLER_PROBE_FAILED" });
    await expect(draw(sampler)).rejects.toMatchObject({ code: "SAMPLER_PROBE_FAILED" });
  },
);

test.each(PHASES.flatMap((path) => (["before", "after"] as const).map((when) => [when, path] as const)))(
  "killed %s %s: no token of other weights, and the next update is sampled",
  async (when, path) => {
    const { sampler, fake, next } = await started();
    await sampler.sleep();
    const lost = await next();
    fake.killAt(path, when);
    await expect(sampler.update(lost)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
    await expect(draw(sampler)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
    await delay(70);
    expect((await sampler.describe()).models).toEqual([]);
    await expect(draw(sampler)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
    const { probeDifference } = await sampler.update(lost);
    expect(probeDifference).toBeLessThan(1e-6);
    expect(new Set((await draw(sampler)).versions)).toEqual(new Set([lost.version]));
  },
);
