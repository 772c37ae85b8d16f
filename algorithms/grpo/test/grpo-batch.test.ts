import { describe, expect, test } from "@jest/globals";
import type { AlgorithmContext, EngineUnit, IterationReport, TrajectoryGroup } from "@mrlm/kit/learning";
import type { EpisodeBatch, PlayPlan } from "@mrlm/spec/host";
import { grpo } from "../src/index.ts";
import type { GrpoOptions } from "../src/options.ts";
import { startGrpo } from "../src/grpo-run.ts";
import { episode, group, options, segment } from "./support/groups.ts";

const SAMPLING = { temperature: 1, maxTokens: 8 };

const planOf = (changes: Partial<GrpoOptions>): PlayPlan => grpo.plays?.(options(changes), SAMPLING) as PlayPlan;

/** Returns a group of these rewards, sampled by a version of the weights. */
const rewarded = (id: string, rewards: readonly number[], version = 10): TrajectoryGroup => ({
  ...group(
    ...rewards.map((reward, member) =>
      episode(reward, { id: `${id}/${member}` }, [segment([0, 1], { versions: Int32Array.of(-1, version) })]),
    ),
  ),
  id,
});

/** Returns the report of one iteration on a batch, with an engine whose log-probabilities are all -2. */
async function learn(changes: Partial<GrpoOptions>, batch: EpisodeBatch): Promise<IterationReport> {
  const outputsOf = (units: readonly EngineUnit[]) =>
    units.map(({ sequences }) => ({
      logprob: new Float32Array(
        sequences.flatMap(({ mask }) => Array.from(mask).filter((chosen) => chosen === 1)).length,
      ).fill(-2),
    }));
  const context = {
    policy: "policy",
    sampling: SAMPLING,
    signal: new AbortController().signal,
    episodes: { take: async () => batch },
    engine: {
      forward: async ({ units }: { units: readonly EngineUnit[] }) => outputsOf(units),
      forwardBackward: async ({ units }: { units: readonly EngineUnit[] }) => ({
        outputs: outputsOf(units),
        computedTokens: 1,
      }),
      optimStep: async () => ({ applied: true, gradNorm: 1 }),
    },
  } as unknown as AlgorithmContext;
  for await (const report of startGrpo(context, options(changes)).run()) return report;
  throw new Error("There was no iteration.");
}

const advantages = ({ credits = [] }: IterationReport): string[] =>
  credits.map(({ advantage }) => (advantage as number).toFixed(2));

describe("the plan of grpo", () => {
  test("states the batch, the limit of age and the number of refills", () => {
    expect(planOf({ prompts_per_step: 5, group_size: 3 })).toMatchObject({
      name: "grpo",
      groups: 5,
      groupSize: 3,
      refills: 0,
    });
    expect(planOf({ max_staleness: 2 })).toMatchObject({ maxStaleness: 2, refills: 1 });
    expect(planOf({ max_staleness: 2, dynamic_sampling: 3 })).toMatchObject({ maxStaleness: 2, refills: 3 });
  });

  test("refuses groups without signal with dynamic_sampling alone, and gives the same answer twice", () => {
    const at = { policy: "policy", version: 10 };
    const [signal, silent] = [rewarded("a", [1, 0]), rewarded("b", [1, 1])];
    const accepts = (changes: Partial<GrpoOptions>, played: TrajectoryGroup) => [
      planOf(changes).accept?.(played, at),
      planOf(changes).accept?.(played, at),
    ];
    expect(accepts({}, silent)).toEqual([undefined, undefined]);
    expect(accepts({ dynamic_sampling: 1 }, silent)).toEqual([false, false]);
    expect(accepts({ dynamic_sampling: 1 }, signal)).toEqual([true, true]);
  });

  test("accepts by the episodes that are learnt from: not by failed, cut or frozen ones", () => {
    const accept = (played: TrajectoryGroup, changes: Partial<GrpoOptions> = {}) =>
      planOf({ dynamic_sampling: 1, ...changes }).accept?.(played, { policy: "policy", version: 10 });
    const failed = episode(9, { error: { code: "ENVIRONMENT_FAILED", message: "gone" } });
    expect(accept(group(episode(1), episode(1), failed))).toBe(false);
    const other = { kind: "model", name: "other" } as const;
    const frozen = episode(9);
    const opponent = { ...frozen.agents["agent"], role: "con", player: other };
    const withOpponent = (reward: number) =>
      episode(1, {
        agents: {
          agent: episode(1).agents["agent"],
          con: { ...opponent, total: { scored: true, value: reward, components: {} } },
        } as never,
      });
    expect(accept(group(withOpponent(0), withOpponent(5)))).toBe(false);
  });
});

describe("a batch of grpo", () => {
  test("M2: batch_std is the deviation of the accepted groups of all refills; metrics count all that were played", async () => {
    const [one, silent, two, three] = [
      rewarded("a", [1, 0]),
      rewarded("b", [1, 1]),
      rewarded("c", [10, 0]),
      rewarded("d", [1, 0]),
    ];
    const report = await learn(
      { prompts_per_step: 3, dynamic_sampling: 3, scale: "batch_std" },
      { played: [one, silent, two, three], groups: [one, two, three], refills: 1, version: 10 },
    );
    expect(advantages(report)).toEqual(["0.16", "-0.16", "1.57", "-1.57", "0.16", "-0.16"]);
    expect(report.metrics).toMatchObject({
      "groups/without_signal": { sum: 1, count: 4 },
      "groups/refills": 1,
      "episodes/played": 8,
    });
  });

  test("M2: a refused group is in no standard deviation of the batch, and its old episodes are counted", async () => {
    const [one, old, two] = [rewarded("a", [1, 0]), rewarded("b", [100, 0], 0), rewarded("c", [1, 0])];
    const report = await learn(
      { prompts_per_step: 2, max_staleness: 2, scale: "batch_std" },
      { played: [one, old, two], groups: [one, two], refills: 1, version: 10 },
    );
    const expected = (0.5 / (Math.sqrt(1 / 3) + 1e-4)).toFixed(2);
    expect(advantages(report)).toEqual([expected, `-${expected}`, expected, `-${expected}`]);
    expect(report.metrics["episodes/stale"]).toBe(2);
  });

  test("credits name each episode once, with the trainer's log-probabilities of its tokens", async () => {
    const batch = [rewarded("a", [1, 0]), rewarded("b", [0, 1])];
    for (const changes of [
      {},
      { policy_loss: "minirl", old_policy: "sampler" },
      { mismatch: "drop" },
      { updates_per_step: 2 },
    ] as const) {
      const { credits } = await learn(changes, { played: batch, groups: batch, refills: 0, version: 10 });
      expect(credits?.map(({ trajectory, agent, advantage }) => [trajectory, agent, advantage])).toEqual([
        ["a/0", "agent", 0.5],
        ["a/1", "agent", -0.5],
        ["b/0", "agent", -0.5],
        ["b/1", "agent", 0.5],
      ]);
      // A loss that is a function of the outputs is not called by this engine.
      const isCalled = !("old_policy" in changes);
      expect(credits?.map(({ logprobs }) => logprobs)).toEqual(
        Array(4).fill(isCalled ? Float32Array.of(-2) : undefined),
      );
    }
  });
});
