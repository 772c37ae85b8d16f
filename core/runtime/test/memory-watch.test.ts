import { expect, test } from "@jest/globals";
import type { ForwardBackwardResult } from "@mrlm/spec";
import { MemoryWatch } from "../src/models/memory-watch.ts";

const pass = (memoryRetries: number, microBatchTokens: number): ForwardBackwardResult => ({
  outputs: [],
  microBatches: 1,
  tokens: 1,
  computedTokens: 1,
  seconds: { forward: 0, backward: 0 },
  memoryRetries,
  microBatchTokens,
});

test("an iteration reports the passes that ran out of memory, once", () => {
  const report = { iteration: 1, metrics: { entropy: 1 }, seconds: {} };
  const watch = new MemoryWatch();
  watch.note("policy", pass(0, 1700));
  expect(watch.addTo(report)).toBe(report);
  watch.note("policy", pass(2, 425));
  watch.note("critic", pass(1, 850));
  watch.note("policy", pass(0, 425));
  const extended = watch.addTo(report);
  expect(extended.metrics).toEqual({ entropy: 1, "memory/retries": 3, "memory/micro_batch_tokens": 425 });
  expect(extended.notices).toHaveLength(2);
  expect(extended.notices?.[0]).toMatch(/^Memory ran out in a pass of policy: .* at most 425 tokens/);
  expect(watch.addTo(report)).toBe(report);
});
