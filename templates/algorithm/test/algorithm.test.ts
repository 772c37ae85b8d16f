import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mean } from "@mrlm/spec";
import { trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { reinforce } from "../dist/index.js";

const training = (steps: number) => ({
  algorithms: [reinforce],
  stages: [{ algorithm: "my-algorithm", steps, learning_rate: 0.3 }],
});

test("the reward rises", async () => {
  const { reports } = await trainBigram(training(12));
  const rewards = reports.map(
    ({ metrics }) => (metrics["reward/mean"] as Mean).sum / (metrics["reward/mean"] as Mean).count,
  );
  assert.ok((rewards.at(-1) as number) > (rewards[0] as number) + 0.1);
});

test("killed and resumed, it comes to the same weights", async () => {
  const whole = await trainBigram(training(5));
  assert.deepEqual((await trainBigramInterrupted(training(5), 4)).weights, whole.weights);
});
