import { expect, test } from "@jest/globals";
import type { AlgorithmContext, ForwardBackwardOptions, OptimStepOptions } from "@mrlm/spec";
import { z } from "zod";
import { optimizerOptions, type StepReport, stepMetrics, trainStep, type TrainStepResult } from "../src/learning.ts";

const optimizer = z.object(optimizerOptions).parse({ learning_rate: 0.1, lr_schedule: "linear", max_grad_norm: 2 });
const pass = { computedTokens: 7 };

/** Runs step 3 of 4 and records the calls that the engine receives. */
async function run(result: object): Promise<{ trained: TrainStepResult; calls: unknown[] }> {
  const calls: unknown[] = [];
  const signal = new AbortController().signal;
  const engine = {
    forwardBackward: async (options: ForwardBackwardOptions) => (calls.push(["pass", options]), pass),
    optimStep: async (options: OptimStepOptions) => (calls.push(["step", options]), result),
  };
  const trained = await trainStep({ engine, signal } as unknown as AlgorithmContext, {
    model: "critic",
    units: [],
    outputs: { value: true },
    normalizer: 5,
    // N19: by the type, what is selected is there, and the rest may not be.
    loss: (_unit, { value, logprob }) => ({ value: value.map(Number), ...(logprob && { logprob }) }),
    optimizer,
    step: 3,
    totalSteps: 4,
  });
  expect(calls[0]).toEqual([
    "pass",
    { model: "critic", units: [], outputs: { value: true }, normalizer: 5, loss: expect.any(Function), signal },
  ]);
  return { trained, calls };
}

test("a step follows its pass, with the learning rate of its place in the schedule", async () => {
  const { trained, calls } = await run({ applied: true, gradNorm: 1.5 });
  expect(calls[1]).toEqual(["step", expect.objectContaining({ model: "critic", learningRate: 0.05, maxGradNorm: 2 })]);
  expect(trained).toEqual({
    pass,
    metrics: { "optim/learning_rate": 0.05, "optim/skipped": 0, "optim/grad_norm": 1.5 },
    notices: [],
  });
});

test.each([
  [{ skippedReason: "an infinite loss" }, "an infinite loss"],
  [{}, "the gradient norm was not finite"],
])("a skipped step has a notice with the reason, and no gradient norm: %j", async (result, reason) => {
  const { trained } = await run({ applied: false, gradNorm: Number.NaN, ...result });
  expect(trained.metrics).toEqual({ "optim/learning_rate": 0.05, "optim/skipped": 1 });
  expect(trained.notices).toEqual([`Optimizer step 3 of the model "critic" was skipped: ${reason}`]);
});

test("metrics of several steps: the mean norm of those that were applied, and the last learning rate", () => {
  const step = (rate: number, norm?: number): StepReport => ({
    metrics: {
      "optim/learning_rate": rate,
      "optim/skipped": Number(norm === undefined),
      ...(norm === undefined ? {} : { "optim/grad_norm": norm }),
    },
    notices: [],
  });
  expect(stepMetrics([step(3, 1), step(2, 4), step(1)])).toEqual({
    "optim/grad_norm": { sum: 5, count: 2 },
    "optim/skipped": 1,
    "optim/learning_rate": 1,
  });
  expect(stepMetrics([])).toEqual({
    "optim/grad_norm": { sum: 0, count: 0 },
    "optim/skipped": 0,
    "optim/learning_rate": 0,
  });
});
