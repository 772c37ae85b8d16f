import { expect, test } from "@jest/globals";
import type { JsonObject, Mean } from "@mrlm/spec";
import type { BigramTraining } from "@mrlm/testing";
import { trainBigram } from "@mrlm/testing";
import { AHEAD, RUNS } from "../replay/support/replays.ts";

const [PIPELINED, ASYNC] = Object.values(AHEAD).map(({ stages, ...training }) => ({
  ...training,
  stages: [{ ...stages[0], steps: 5 }],
  config: { ...training.config, eval: { tasks: 0 } },
})) as readonly BigramTraining[] as readonly [BigramTraining, BigramTraining];

const several = RUNS["GRPO of one policy beside PPO of another, then GRPO of the second"] as BigramTraining;

const latest = (reports: Awaited<ReturnType<typeof trainBigram>>["reports"], name: string): unknown =>
  reports.at(-1)?.metrics[name];

test("pipelined: tokens are as old as the lag, and importance weights are reported", async () => {
  const { reports } = await trainBigram(PIPELINED);
  expect(reports.map(({ metrics }) => metrics["offpolicy/lag_max"])).toEqual([0, 1, 2, 2, 2]);
  expect(latest(reports, "offpolicy/ess")).toBeLessThan(1);
  expect(latest(reports, "offpolicy/ess")).toBeGreaterThan(0);
  expect(latest(reports, "offpolicy/ratio_max")).toBeGreaterThan(1);
});

test("async: no token that is learnt from is older than the lag", async () => {
  const { reports } = await trainBigram(ASYNC);
  for (const { metrics } of reports) {
    expect(metrics["offpolicy/lag_max"]).toBeLessThanOrEqual(2);
    expect(metrics["offpolicy/lag_mean"]).toBeLessThanOrEqual(metrics["offpolicy/lag_max"] as number);
  }
});

test("a run in turn has no metrics of age", async () => {
  const { reports } = await trainBigram({ ...PIPELINED, config: { ...PIPELINED.config, play: {} } });
  expect(latest(reports, "offpolicy/lag_max")).toBeUndefined();
});

test("play.max_kl ends a run whose weights move too far from those that played", async () => {
  const limited = { ...PIPELINED, config: { ...PIPELINED.config, play: { mode: "pipelined", lag: 2, max_kl: 1e-9 } } };
  await expect(trainBigram(limited)).rejects.toMatchObject({
    code: "OFF_POLICY",
    message: expect.stringMatching(/nats a token from those that played step [23], and play\.max_kl is 1e-9/),
  });
});

test("play.max_kl holds for each of several policies that learn", async () => {
  const learner = { algorithm: "grpo", steps: 5, prompts_per_step: 4, group_size: 4, mismatch: "truncate" };
  const training = (play: JsonObject): BigramTraining => ({
    ...several,
    stages: [{ learners: { alice: { ...learner, learning_rate: 1e-9 }, bob: { ...learner, learning_rate: 0.2 } } }],
    config: { ...several.config, play: { mode: "pipelined", lag: 2, ...play } },
  });
  const { reports } = await trainBigram(training({}));
  const { sum, count } = latest(reports, "alice/offpolicy/kl") as Mean;
  expect(sum / count).toBeLessThan(1e-6);
  await expect(trainBigram(training({ max_kl: 1e-6 }))).rejects.toMatchObject({ code: "OFF_POLICY" });
});

/** PPO of a separate critic, with a batch that `minibatches` divides. */
const ppo = (options: JsonObject): BigramTraining => ({
  ...PIPELINED,
  stages: [{ algorithm: "ppo", steps: 5, prompts_per_step: 8, learning_rate: 0.2, minibatches: 2, ...options }],
});

test("ppo is refused for older weights without a correction, and learns with one: decoupled, or by the ratio itself", async () => {
  await expect(trainBigram(ppo({}))).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/ppo@1 has a wrong gradient for them: `mismatch: none` with `old_policy: trainer`/),
  });
  for (const mismatch of ["truncate", "mask", "drop"]) {
    const { reports } = await trainBigram(ppo({ mismatch }));
    expect(latest(reports, "offpolicy/lag_max")).toBe(2);
    expect(latest(reports, "offpolicy/ess")).toBeLessThan(1);
    expect(latest(reports, "offpolicy/ratio_max")).toBeGreaterThan(1);
  }
  const { reports } = await trainBigram(ppo({ old_policy: "sampler", critic: "shared" }));
  expect(latest(reports, "mismatch/max")).toBeGreaterThan(0.01);
});
