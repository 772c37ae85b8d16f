import { describe, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import type { JsonObject, TrajectoryGroup } from "@mrlm/spec";
import type { MemoryEstimate, MemoryWorkload, PlayedBy } from "@mrlm/spec/host";
import {
  BigramEngine,
  type BigramTraining,
  duelEnvironment,
  recordingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { trainedTokens } from "./support/provenance.ts";

const PAST = { every: 2, keep: 2, newest: 0.5 };

const training = (past: JsonObject = PAST, config: JsonObject = {}): BigramTraining => ({
  algorithms: [grpo],
  environments: [duelEnvironment({ rounds: 2 })],
  stages: [{ algorithm: "grpo", steps: 8, prompts_per_step: 8, group_size: 2, learning_rate: 0.2 }],
  config: {
    environments: [{ id: "duel", players: { first: "policy", second: { policy: "policy", past } } }],
    ...config,
  },
});

const opponents = (groups: readonly TrajectoryGroup[]): PlayedBy[] =>
  groups.map(({ players }) => players["second"] as PlayedBy);

describe("earlier versions of a policy as players", () => {
  test("mutation, opponent's tokens in the batch: copies play and are not learnt from, and metrics are of the policy", async () => {
    const { engine, asked } = recordingEngine();
    const { played, reports } = await trainBigram({ ...training(), engine });
    const { trained, foreign } = trainedTokens(asked, "policy");
    expect([foreign, trained > 0]).toEqual([0, true]);
    expect(new Set(asked.passes.map(({ model }) => model))).toEqual(new Set(["policy"]));
    expect(new Set(opponents(played.flat()).map(({ kind }) => kind))).toEqual(new Set(["past"]));
    expect(Object.keys(reports[0]?.metrics ?? {})).toContain("reward/mean");
  });

  test("mutation, a group with two different opponents: all members of a group meet the same copy", async () => {
    const { played } = await trainBigram(training());
    for (const { players, trajectories } of played.flat())
      for (const { agents } of trajectories) expect(agents["second"]?.player).toEqual(players["second"]);
    const versions = new Set(opponents(played.at(-1) ?? []).map(({ version }) => version));
    expect(versions.size).toBe(2);
  });

  test("every second version is kept, the start until newer ones take its place, and no more than the limit", async () => {
    const { engine } = recordingEngine();
    const { played } = await trainBigram({ ...training({ ...PAST, newest: 0 }), engine });
    const versions = played.map((groups) => new Set(opponents(groups).map(({ version = -1 }) => version)));
    expect([...(versions[0] as Set<number>)]).toEqual([1]);
    for (const [i, kept] of versions.entries()) {
      const current = i + 1;
      const possible = [1, 2, 4, 6, 8].filter((version) => version <= current).slice(-2);
      for (const version of kept) expect(possible).toContain(version);
    }
    const { models } = await engine.describe();
    expect(models.map(({ model }) => model).filter((model) => model.startsWith("past-"))).toHaveLength(2);
  });

  test("newest: 1 is always the newest copy, 0 any of them", async () => {
    const { played } = await trainBigram(training({ every: 1, keep: 4, newest: 1 }));
    for (const groups of played) {
      const versions = new Set(opponents(groups).map(({ version }) => version));
      expect([...versions]).toEqual([groups[0]?.players["first"]?.version]);
    }
  });

  test.each([3, 6])("killed at optimizer step %i and resumed, the weights are the same", async (dieAt) => {
    const whole = await trainBigram(training());
    const resumed = await trainBigramInterrupted(training(), dieAt);
    expect(resumed.weights.equals(whole.weights)).toBe(true);
  });

  test("the memory estimate has every copy and its sampler", async () => {
    const workloads: MemoryWorkload[] = [];
    class Estimating extends BigramEngine {
      override estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate> {
        workloads.push(workload);
        return super.estimateMemory(workload);
      }
    }
    await trainBigram({ ...training({ ...PAST, keep: 3 }), engine: new Estimating() });
    const [workload] = workloads;
    const copies = workload?.models.filter(({ source }) => source.kind === "copy").map(({ model }) => model) ?? [];
    expect(new Set(copies).size).toBe(3);
    expect(workload?.sampledModels).toEqual(["policy", ...copies]);
  });

  test("different pools of one policy, and environments in which only copies play, are refused", async () => {
    const environments = [
      { id: "duel", players: { first: "policy", second: { policy: "policy", past: PAST } } },
      { id: "duel", players: { first: { policy: "policy", past: { ...PAST, keep: 9 } }, second: "policy" } },
    ];
    await expect(trainBigram(training(PAST, { environments }))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/run\.yaml:\d+:\d+: the players of one policy share its copies/),
    });
    const alone = [{ id: "duel", players: { first: { policy: "policy", past: PAST }, second: { scripted: "fixed" } } }];
    await expect(trainBigram(training(PAST, { environments: alone }))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("no role of duel@1 is played by a policy"),
    });
    const scripted = [{ id: "duel", players: { second: { scripted: "fixed", past: PAST } } }];
    await expect(trainBigram(training(PAST, { environments: scripted }))).rejects.toMatchObject({
      message: expect.stringContaining("past has no effect: only a policy of this run has earlier versions"),
    });
  });
});
