import { expect, test } from "@jest/globals";
import type { Mean } from "@mrlm/kit/learning";
import type { Example } from "../src/example.ts";
import { calibrationError, type Scored, scoreMetrics } from "../src/measure.ts";

const pair: Example = { kind: "pair", unit: { sequences: [] }, margin: 0 };
const scored = (chosen: number, rejected: number): Scored => ({ example: pair, scores: [chosen, rejected], loss: 1 });
/** Scores whose difference has this probability. */
const logit = (probability: number): number => Math.log(probability / (1 - probability));

test("calibration: predictions of 0.75 that are right in three of four cases have no error; always right ones have 0.25", () => {
  const right = scored(logit(0.75), 0);
  expect(calibrationError([right, right, right, scored(0, logit(0.75))])).toBeCloseTo(0, 12);
  expect(calibrationError([right, right])).toBeCloseTo(0.25, 12);
  expect(calibrationError([scored(0, logit(0.75))])).toBeCloseTo(0.75, 12);
  expect(calibrationError([])).toBe(0);
});

test("metrics of pairs and of steps", () => {
  const mean = (metric: unknown): number => (metric as Mean).sum / (metric as Mean).count;
  const pairs = scoreMetrics([scored(2, 1), scored(0, 3)], "heldout/");
  expect(mean(pairs["heldout/preference/accuracy"])).toBe(0.5);
  expect(mean(pairs["heldout/preference/margin"])).toBe(-1);
  const steps: Example = { kind: "steps", unit: { sequences: [] }, labels: [1, 0, 0.2] };
  const metrics = scoreMetrics([{ example: steps, scores: [3, -1, 2], loss: 6 }]);
  expect(mean(metrics["loss/reward"])).toBe(2);
  expect(mean(metrics["steps/accuracy"])).toBeCloseTo(2 / 3, 12);
  expect([mean(metrics["score/right"]), mean(metrics["score/wrong"])]).toEqual([3, 0.5]);
});
