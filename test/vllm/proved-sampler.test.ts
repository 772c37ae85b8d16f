import { afterEach, expect, test } from "@jest/globals";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "./support/fake-vllm.ts";
import { ASKED, proved } from "./support/proved.ts";

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const started = async () => {
  const parts = await proved();
  closing.push(...parts.closing);
  return parts;
};

test("ten updates are each proved by a probe of at least 256 prompt tokens", async () => {
  const { sampler, next, directory, fake } = await started();
  await expect(sampler.sampler("policy")).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  for (let i = 0; i < 10; i++) {
    const update = await next();
    const { probeDifference } = await sampler.update(update);
    expect(probeDifference).toBeLessThan(1e-6);
    const stream = await sampler.sampler("policy");
    expect([...(await stream.sample(ASKED)).versions]).toEqual(Array.from({ length: 8 }, () => update.version));
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
    const [failed, held] = await Promise.allSettled([sampler.update(await next()), stream.sample(ASKED)]);
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
  await expect(stream.sample(ASKED)).rejects.toMatchObject({ code: "SAMPLER_UNAVAILABLE" });
  expect((await sampler.describe()).models).toEqual([]);
  await sampler.update(update);
  await (await sampler.sampler("policy")).sample(ASKED);
});
