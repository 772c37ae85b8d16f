import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import type { Mean } from "@mrlm/spec";
import { trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { bestOfN } from "../best-of-n.ts";

const training = (steps: number) => ({
  algorithms: [bestOfN],
  stages: [{ algorithm: "best-of-n", steps, prompts_per_step: 8, learning_rate: 0.3 }],
});

test("learns, in under 100 lines", async () => {
  const { reports } = await trainBigram(training(40));
  const rewards = reports.map(
    ({ metrics }) => (metrics["reward/mean"] as Mean).sum / (metrics["reward/mean"] as Mean).count,
  );
  expect(rewards.at(-1)).toBeGreaterThan((rewards[0] as number) + 0.1);
  expect(readFileSync(new URL("../best-of-n.ts", import.meta.url), "utf8").split("\n").length).toBeLessThan(120);
});

test("numerics 52: killed and resumed, it comes to the same weights", async () => {
  const whole = await trainBigram(training(5));
  expect((await trainBigramInterrupted(training(5), 4)).weights).toEqual(whole.weights);
});
