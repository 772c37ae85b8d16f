import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "@jest/globals";

import { silentLogger } from "@mrlm/kit/service";
import { type Logger, score, type Trajectory } from "@mrlm/spec";
import { MAX_REWARD } from "@mrlm/spec/host";
import { lettersEnvironment, type LettersReward, trainBigram } from "@mrlm/testing";
import { diagnose } from "../src/diagnosis/diagnose.ts";
import { readRun } from "../src/diagnosis/run-record.ts";
import { evaluate } from "../src/evaluation/evaluate.ts";
import { totalReward } from "../src/rollouts/episode-record.ts";
import { outOfRange } from "../src/rollouts/reward-watch.ts";
import { shareRewards } from "../src/rollouts/episode-record.ts";
import { reinforce } from "./support/reinforce.ts";
import { collect, localHost, runner } from "./support/rollouts.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Logger that keeps its warnings. */
function recorded(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = [];
  return { logger: { ...silentLogger, warn: (message) => void warnings.push(message) }, warnings };
}

const strange: LettersReward = (text) => score(text.startsWith("a") ? 5 : -3);
const FIRST =
  /^Rewards are outside of their range: agent "agent" earned (5|-3) in task train\/\d+ of letters@1, whose range is 0 to 1\./;

test("D18: rewards outside of the range are reported once in training, counted, and found by doctor", async () => {
  const { logger, warnings } = recorded();
  const stages = [{ algorithm: "reinforce", steps: 3, tasks: 4, group_size: 4 }];
  const { summary } = await trainBigram({
    algorithms: [reinforce],
    environments: [lettersEnvironment({ reward: strange })],
    stages,
    config: { output: temporaryDirectory(), eval: { tasks: 4 } },
    logger,
  });
  expect(warnings.filter((text) => text.includes("range"))).toHaveLength(1);
  const rows = readFileSync(join(summary.directory, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; metrics: Record<string, number>; notices: string[] });
  const iterations = rows.filter(({ kind }) => kind === "iteration");
  expect(iterations.map(({ metrics }) => metrics["episodes/out_of_range"])).toEqual([16, 16, 16]);
  // A resumed run records the same: the notice of a row is about its own batch.
  for (const { notices } of iterations) expect(notices).toEqual([expect.stringMatching(FIRST)]);
  expect(rows.filter(({ kind }) => kind === "evaluation")[0]).toMatchObject({
    greedy: { outOfRange: 4, firstOutOfRange: expect.stringContaining("in task eval/0 of letters@1") },
  });
  const findings = diagnose(readRun(summary.directory));
  expect(findings.find(({ rule }) => rule === "rewards-out-of-range")).toMatchObject({
    severity: "problem",
    what: expect.stringMatching(/^48 rewards .* The first: agent "agent" earned (5|-3) in task \S+ of letters@1/),
  });
  expect(findings.filter(({ advice }) => /Lower learning_rate/.test(advice))).toEqual([]);
});

test("D18: rewards within a stated range have no report; a range may depend on the options", async () => {
  const { logger, warnings } = recorded();
  const environment = { ...lettersEnvironment({ reward: strange }), rewardRange: () => [-3, 5] as const };
  const host = await localHost(environment);
  expect((await host.describe({ id: "letters" })).rewardRange).toEqual([-3, 5]);
  await collect(await runner({ host, logger }), { environment: { id: "letters" } });
  expect(warnings).toEqual([]);
});

test("D18: play and evaluation report the first reward outside of the range with environment and task", async () => {
  const { logger, warnings } = recorded();
  const host = await localHost(lettersEnvironment({ reward: strange }));
  const rollouts = await runner({ host, logger });
  await collect(rollouts, { environment: { id: "letters" } });
  await collect(rollouts, { environment: { id: "letters" } });
  expect(warnings).toEqual([expect.stringMatching(FIRST)]);
  const [result] = await evaluate({
    rollouts,
    environments: [{ ref: { id: "letters" }, tasks: ["eval/0", "eval/1"], players: "policy", rewardRange: [0, 1] }],
    sampling: { temperature: 1, maxTokens: 4 },
    samples: 0,
  });
  expect(result?.greedy).toMatchObject({ episodes: 2, scored: 2, outOfRange: 2 });
});

test("D18: rewards whose square is not finite fail their episodes with a code and are in no mean", async () => {
  const host = await localHost(lettersEnvironment({ reward: () => score(1e308) }));
  const groups = await collect(await runner({ host }), { environment: { id: "letters" } });
  const trajectories = groups.flatMap((group) => group.trajectories);
  for (const { error } of trajectories)
    expect(error).toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringContaining("rewards.agent.value: must be at most 1e+150 from 0"),
    });
  expect(trajectories).toHaveLength(12);
});

test("D18: sums of rewards whose square is not finite are unscored", () => {
  const half = 0.6 * MAX_REWARD;
  const refused = { scored: false, code: "ENVIRONMENT_FAILED", message: expect.stringContaining("add up to 1.2e+150") };
  expect(totalReward([score(half), score(half)])).toMatchObject(refused);
  expect(totalReward([score(0, { part: half }), score(0, { part: half })])).toMatchObject(refused);
  expect(totalReward([score(half), score(-half)])).toEqual(score(0));
  const part = (role: string) => ({
    ...{ role, player: { kind: "policy", name: "policy" } as const, segments: [], total: score(half) },
    end: { terminated: true, truncated: false },
  });
  const shared = shareRewards({ a: part("a"), b: part("b") }, { a: { a: 1, b: 1 } });
  expect(shared["a"]?.shared).toMatchObject(refused);
});

test("D18: a bound is met within rounding; failed episodes and missing rewards are not compared", () => {
  const played = (value: number): Trajectory =>
    ({ task: "train/0", environment: "e@1", agents: { agent: { total: score(value) } } }) as unknown as Trajectory;
  expect(outOfRange(played(0.1 + 0.2 + 0.7), [0, 1])).toEqual([]);
  expect(outOfRange(played(-1e-3), [0, Number.POSITIVE_INFINITY])).toHaveLength(1);
  expect(outOfRange({ ...played(9), error: { code: "X", message: "" } }, [0, 1])).toEqual([]);
});

test("D18: a rewardRange that is none is refused with the environment", async () => {
  const host = await localHost({ ...lettersEnvironment(), rewardRange: () => [1, 0] as const });
  await expect(host.describe({ id: "letters" })).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringContaining("rewardRange of environment letters@1 is [1,0]"),
  });
});
