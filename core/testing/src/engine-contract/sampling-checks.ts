import assert from "node:assert/strict";
import type { Engine, SampledChunk, SampleRequest, SampleResult } from "@mrlm/spec/host";
import { expectCode } from "../contract/expect-code.ts";
import { ALL_OUTPUTS, type EngineCheck, UNITS, gradientOf } from "./engine-subject.ts";

const params = { temperature: 0.8, maxTokens: 12, stopTokenIds: [0] };
const request = (key: bigint, extra: Partial<SampleRequest["params"]> = {}): SampleRequest => ({
  prompt: Int32Array.of(1, 2, 3),
  params: { ...params, ...extra },
  key,
});

/** Checks of samples: reproducible, equal to an evaluation, and from published weights. */
export const samplingChecks: readonly EngineCheck[] = [
  {
    name: "the same key gives the same tokens, another key others",
    run: async ({ engine, model: { model } }) => {
      const requests = [1n, 2n, 2n ** 63n + 1n].map((key) => request(key, { stopTokenIds: [] }));
      const [first, second] = [await wave(engine, model, requests), await wave(engine, model, requests)];
      assert.deepEqual(second, first, "Two equal waves differ.");
      assert.equal(new Set(first.map(({ tokens }) => tokens.join())).size, 3, "Different keys gave the same tokens.");
      for (const { tokens, logprobs, versions, stopReason } of first)
        assert.deepEqual([tokens.length, logprobs.length, versions.length, stopReason], [12, 12, 12, "length"]);
    },
  },
  {
    name: "log-probabilities are those of an evaluation (numerics 14, 15)",
    run: async ({ engine, model: { model }, tolerance }) => {
      const results = await wave(
        engine,
        model,
        [1n, 2n, 3n, 4n].map((key) => request(key)),
      );
      const units = results.map(({ tokens }) => {
        const all = Int32Array.of(1, 2, 3, ...tokens);
        return { sequences: [{ tokens: all, mask: Uint8Array.from(all, (_, t) => Number(t >= 3)) }] };
      });
      const evaluated = await engine.forward({
        model,
        units,
        outputs: { logprob: true },
        temperature: params.temperature,
      });
      results.forEach(({ logprobs, tokens, stopReason }, i) => {
        if (stopReason === "stop") assert.equal(tokens.at(-1), 0, "A stopped sequence ends with its stop token.");
        logprobs.forEach((logprob, t) => {
          const again = evaluated[i]?.logprob?.[t] ?? Number.NaN;
          assert(
            Math.abs(logprob - again) <= tolerance,
            `Token ${t} was sampled with log-probability ${logprob} and evaluated to ${again}.`,
          );
        });
      });
    },
  },
  {
    name: "greedy sampling, the minimal length and a truncated support follow the request",
    run: async ({ engine, model: { model } }) => {
      const [greedy, top, least] = await wave(engine, model, [
        request(1n, { temperature: 0, stopTokenIds: [] }),
        request(2n, { topK: 1, stopTokenIds: [] }),
        request(3n, { minTokens: 12, stopTokenIds: [0, 1, 2, 3] }),
      ]);
      assert.deepEqual(top?.tokens, greedy?.tokens, "The most likely token of all is not the greedy one.");
      assert.deepEqual([greedy?.truncatedSupport, top?.truncatedSupport], [false, true]);
      assert(
        least?.tokens.slice(0, 11).every((token) => token > 3),
        "A stop token came before the least number of tokens.",
      );
    },
  },
  {
    name: "a cancelled or invalid sequence does not affect the others",
    run: async ({ engine, model: { model } }) => {
      const sampler = await engine.sampler(model);
      const aborted = sampler.sample(request(1n), { signal: AbortSignal.abort() });
      const bad = sampler.sample({ ...request(2n), prompt: Int32Array.of(2 ** 30) });
      bad.catch(() => undefined);
      const good = sampler.sample(request(3n));
      sampler.barrier();
      assert.equal((await aborted).stopReason, "cancelled");
      await expectCode(bad, "SEQUENCE_INVALID");
      assert((await good).tokens.length > 0);
      await sampler.close();
      await expectCode(sampler.sample(request(4n)), "CANCELLED");
    },
  },
  {
    name: "onTokens receives the tokens of its sequence, and changes no other",
    run: async ({ engine, model: { model } }) => {
      const requests = [1n, 2n, 3n].map((key) => request(key, { stopTokenIds: [] }));
      const expected = await wave(engine, model, requests);
      const sampler = await engine.sampler(model);
      const chunks: SampledChunk[] = [];
      const fault = new Error("The receiver fails.");
      const results = requests.map((each, i) => {
        const onTokens = [
          undefined,
          (chunk: SampledChunk) => void chunks.push(chunk),
          () => {
            throw fault;
          },
        ][i];
        return sampler.sample(each, onTokens && { onTokens });
      });
      const thrown = assert.rejects(results[2] as Promise<SampleResult>, { message: fault.message });
      sampler.barrier();
      await thrown;
      const streamed = await results[1];
      assert.deepEqual([await results[0], streamed], expected.slice(0, 2), "A stream of tokens changed a result.");
      const list = (field: keyof SampledChunk): number[] => chunks.flatMap((chunk) => [...chunk[field]]);
      assert.deepEqual(list("tokens"), [...(streamed?.tokens ?? [])]);
      assert.deepEqual(list("logprobs"), [...(streamed?.logprobs ?? [])]);
      assert.deepEqual(list("versions"), [...(streamed?.versions ?? [])]);
      assert(chunks.length > 1, "All tokens came in one chunk.");
      await sampler.close();
    },
  },
  {
    name: "only published weights are sampled (numerics 49)",
    run: async ({ engine, model: { model } }) => {
      const first = await engine.publish(model);
      assert.equal(
        (await engine.publish(model)).checksum,
        first.checksum,
        "The checksum changed though the weights did not.",
      );
      const before = await wave(engine, model, [request(1n, { temperature: 0, stopTokenIds: [] })]);
      await engine.forwardBackward({ model, units: UNITS, outputs: ALL_OUTPUTS, normalizer: 1, loss: gradientOf });
      await engine.optimStep({ model, learningRate: 0.5 });
      const still = await wave(engine, model, [request(1n, { temperature: 0, stopTokenIds: [] })]);
      assert.deepEqual(still, before, "A step reached the sampler before it was published.");
      const published = await engine.publish(model);
      assert.notEqual(published.checksum, first.checksum);
      const [after] = await wave(engine, model, [request(1n, { temperature: 0, stopTokenIds: [] })]);
      assert.equal(after?.versions[0], published.version);
      assert.notDeepEqual(after?.logprobs, before[0]?.logprobs, "A published step did not reach the sampler.");
    },
  },
];

async function wave(engine: Engine, model: string, requests: readonly SampleRequest[]): Promise<SampleResult[]> {
  const sampler = await engine.sampler(model);
  const results = requests.map((each) => sampler.sample(each));
  sampler.barrier();
  try {
    return await Promise.all(results);
  } finally {
    await sampler.close();
  }
}
