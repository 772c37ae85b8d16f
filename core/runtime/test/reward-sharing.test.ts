import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { definePlugin, textMessage } from "@mrlm/kit";
import { learntReward } from "@mrlm/kit/learning";
import { checkPlayers, LocalHost, parseConfig, PluginHost, prepareRun } from "@mrlm/runtime";
import { trainedSharing } from "../src/players/reward-sharing.ts";
import type { MeasuredEnvironment } from "../src/evaluation/evaluate.ts";
import {
  type AgentId,
  type AgentTrajectory,
  type EnvironmentDefinition,
  type Reward,
  roleOf,
  score,
  unscored,
} from "@mrlm/spec";
import type { RewardSharing } from "@mrlm/spec/host";
import { shareRewards } from "../src/rollouts/episode-record.ts";
import { FailureWatch } from "../src/train/failure-watch.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { reinforce } from "./support/reinforce.ts";
import { collect, localHost, runner } from "./support/rollouts.ts";

/** `main` acts, then each browser, then `main` ends the episode. Each turn has the given rewards. */
function searchEnvironment(rewards: readonly Readonly<Record<AgentId, Reward>>[]): EnvironmentDefinition<any> {
  const agents = ["main", ...Array.from({ length: rewards.length - 2 }, (_, i) => `browser#${i + 1}`), "main"];
  return counterEnvironment({
    roles: { main: {}, browser: { many: true } },
    create: () => {
      let turn = 0;
      const shown = () => ({ agent: agents[turn] ?? "", messages: [textMessage("user", "ab")] });
      return {
        reset: async () => ((turn = 0), shown()),
        step: async ({ agent }) => {
          turn++;
          const flags = Object.fromEntries(agents.map((each) => [each, true]));
          const ended = turn === agents.length ? { main: true } : agent === "main" ? {} : { [agent]: true };
          return {
            observation: shown(),
            rewards: rewards[turn - 1] as Readonly<Record<AgentId, Reward>>,
            terminated: agents.length === 2 && turn === 2 ? { main: flags["main"] as boolean } : ended,
            truncated: {},
          };
        },
      };
    },
  });
}

function partOf(agent: AgentId, total: Reward): AgentTrajectory {
  const player = { kind: "policy", name: "policy", policy: "policy" } as const;
  return { role: roleOf(agent), player, segments: [], total, end: { terminated: true, truncated: false } };
}

async function learnt(rewards: readonly Readonly<Record<AgentId, Reward>>[], rewardSharing: RewardSharing) {
  const played = await runner({ host: await localHost(searchEnvironment(rewards)) });
  const [group] = await collect(played, { tasks: ["train/0"], groupSize: 1, rewardSharing });
  const [trajectory] = group?.trajectories ?? [];
  expect(trajectory?.error).toBeUndefined();
  return trajectory?.agents ?? {};
}

const SHARING = { browser: { browser: 1, main: 0.5 }, main: { main: 1, browser: 0.2 } };
// main: 0.25 + 1 = 1.25; browser#1: 0.5 - 0.125 = 0.375; browser#2: 1.
const REWARDS: readonly Readonly<Record<AgentId, Reward>>[] = [
  { main: score(0.25) },
  { "browser#1": score(0.5, { format: 0.5 }) },
  { "browser#2": score(1) },
  { main: score(1), "browser#1": score(-0.125) },
];

describe("rewards that roles share", () => {
  test("an agent has its own total for its own role, and the mean of the agents of another one", async () => {
    const agents = await learnt(REWARDS, SHARING);
    expect(agents["browser#1"]).toMatchObject({
      total: { value: 0.375, components: { format: 0.5 } },
      shared: { scored: true, value: 0.375 + 0.5 * 1.25, weights: { "browser#1": 1, main: 0.5 } },
    });
    expect(agents["browser#2"]?.shared).toMatchObject({ value: 1 + 0.5 * 1.25 });
    // The mean of 0.375 and 1 is 0.6875.
    expect(agents["main"]?.shared).toEqual({
      ...score(1.25 + 0.1 * 0.375 + 0.1 * 1),
      weights: { main: 1, "browser#1": 0.1, "browser#2": 0.1 },
    });
  });

  test("a role without a row, and every role by default, learns from its own total", async () => {
    const agents = await learnt(REWARDS, { browser: { main: 2 } });
    expect(agents["main"]).not.toHaveProperty("shared");
    expect(agents["browser#2"]).toMatchObject({ total: { value: 1 }, shared: { value: 2.5, weights: { main: 2 } } });
    for (const part of Object.values(await learnt(REWARDS, {}))) {
      expect(part).not.toHaveProperty("shared");
      expect(learntReward(part)).toBe(part.total);
    }
  });

  test("an unscored term makes the result unscored, and only where its weight is not 0", async () => {
    const failed = [...REWARDS.slice(0, 3), { main: score(1), "browser#1": unscored("JUDGE_FAILED", "down") }];
    const agents = await learnt(failed, { ...SHARING, browser: { browser: 0, main: 0.5 } });
    expect(agents["main"]?.shared).toMatchObject({
      scored: false,
      code: "JUDGE_FAILED",
      message: 'The reward of "browser#1" is shared: down',
    });
    expect(agents["main"]?.total).toEqual(score(1.25));
    expect(agents["browser#1"]?.shared).toMatchObject({ scored: true, value: 0.625, weights: { main: 0.5 } });
  });

  test("a run states why shared rewards are unscored, also where the policy's own are not", async () => {
    const failed = [...REWARDS.slice(0, 3), { main: unscored("JUDGE_FAILED", "down") }];
    const agents = await learnt(failed, SHARING);
    const { main, ...browsers } = agents;
    expect(main?.total.scored).toBe(false);
    const group = (parts: typeof agents) => ({
      id: "g",
      task: "train/0" as const,
      players: {},
      trajectories: [
        {
          ...{ id: "g/0", environment: "e@1", task: "train/0" as const, seed: 0, group: "g", member: 0 },
          turns: [],
          agents: parts,
          seconds: { sampling: 0, environment: 0 },
        },
      ],
    });
    expect(new FailureWatch().watch([group(browsers)])).toBe(
      '1 of 1 episodes have no score and are left out. JUDGE_FAILED: The reward of "main" is shared: down',
    );
  });

  test("a role without an agent in the episode adds nothing", async () => {
    const agents = await learnt([{ main: score(0.25) }, { main: score(1) }], SHARING);
    expect(agents["main"]?.shared).toEqual({ ...score(1.25), weights: { main: 1 } });
  });
});

test("the reward of any agent under any matrix is the sum that its definition states", () => {
  const roles = ["main", "browser", "critic"];
  const agents = ["main", "browser#1", "browser#2", "browser#7", "critic"];
  const total = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: -8, max: 8 }).map((value) => score(value / 4)) },
    { weight: 1, arbitrary: fc.constant(unscored("JUDGE_FAILED", "down")) },
  );
  const totals = fc.dictionary(fc.constantFrom(...agents), total, { noNullPrototype: true });
  const weights = fc.dictionary(fc.constantFrom(...roles), fc.integer({ min: -2, max: 2 }), { noNullPrototype: true });
  const matrix = fc.dictionary(fc.constantFrom(...roles), weights, { noNullPrototype: true });
  let lost = 0;
  fc.assert(
    fc.property(totals, matrix, (given, sharing) => {
      const parts = Object.fromEntries(Object.entries(given).map(([agent, reward]) => [agent, partOf(agent, reward)]));
      for (const [agent, { role, shared }] of Object.entries(shareRewards(parts, sharing))) {
        const row = sharing[role];
        if (row === undefined) {
          expect(shared).toBeUndefined();
          continue;
        }
        const terms = roles.map((other) => {
          const members = other === role ? [agent] : Object.keys(given).filter((each) => roleOf(each) === other);
          const rewards = members.map((each) => given[each] as Reward);
          if ((row[other] ?? 0) === 0 || rewards.length === 0) return 0;
          const values = rewards.map((reward) => (reward.scored ? reward.value : Number.NaN));
          return ((row[other] as number) * values.reduce((sum, value) => sum + value, 0)) / values.length;
        });
        const expected = terms.reduce((sum, term) => sum + term, 0);
        expect(shared?.scored).toBe(!Number.isNaN(expected));
        if (shared?.scored === true) expect(shared.value).toBeCloseTo(expected, 12);
        else lost++;
      }
    }),
    { seed: 1, numRuns: 500 },
  );
  expect(lost).toBeGreaterThan(20);
});

describe("reward_sharing in a configuration", () => {
  const configured = (lines: string) =>
    parseConfig(
      `model: {random: {config: {}}}\nenvironments:\n  - id: counter\n${lines}\nstages: [{algorithm: reinforce, steps: 1}]\n`,
      { path: "/tmp/run.yaml" },
    );
  const source = () =>
    PluginHost.of([
      definePlugin({ name: "test", environments: [searchEnvironment(REWARDS)], algorithms: [reinforce] }),
    ]);

  test("it is part of the training, not of the evaluation, and a collection uses it", async () => {
    const loaded = configured("    reward_sharing: {browser: {browser: 1, main: 0.5}}");
    const algorithms = await source();
    const { environments, evaluation } = await prepareRun(loaded, {
      host: new LocalHost({ source: algorithms }),
      algorithms,
    });
    expect(environments[0]?.rewardSharing).toEqual({ browser: { browser: 1, main: 0.5 } });
    expect(evaluation).toHaveLength(1);
    expect(evaluation[0] as MeasuredEnvironment).not.toHaveProperty("rewardSharing");
    const description = { id: "counter@1", roles: { main: {}, browser: { many: true } } };
    expect(trainedSharing(loaded, description)).toEqual({ rewardSharing: { browser: { browser: 1, main: 0.5 } } });
    expect(trainedSharing(configured("    max_turns: 9"), description)).toEqual({});
  });

  test("two entries that differ in it alone are trained apart and measured once", () => {
    const { config } = configured(
      "    reward_sharing: {browser: {main: 1}}\n  - id: counter\n    reward_sharing: {browser: {main: 2}}\n  - id: counter\n    reward_sharing: {browser: {main: 2}}",
    );
    expect(config.environments.map(({ weight }) => weight)).toEqual([1, 2]);
    expect(config.eval.environments).toHaveLength(1);
  });

  test.each([
    [
      "{browsr: {main: 1}}",
      '4:22: environments[0].reward_sharing: counter@1 has no role "browsr". Did you mean "browser"?',
    ],
    [
      "{browser: {mian: 1}}",
      '4:32: environments[0].reward_sharing.browser: counter@1 has no role "mian". Did you mean "main"?',
    ],
    [
      "{main: {main: 0}}",
      "4:22: environments[0].reward_sharing.main states no weight but 0: this role would learn from no reward",
    ],
    [
      "{browser: {main: 1}}\n    players: {browser: {policy: policy, past: {every: 1, keep: 2}}}",
      '4:22: environments[0].reward_sharing.browser has no effect: no policy learns as "browser"',
    ],
    [
      "{browser: {main: 1}}\n    players: {browser: {scripted: idle}}",
      '4:22: environments[0].reward_sharing.browser has no effect: no policy learns as "browser"',
    ],
  ])("%s is refused with its line, before any process starts and by the host", async (sharing, message) => {
    const plugins = await source();
    const loaded = configured(`    reward_sharing: ${sharing}`);
    const host = new LocalHost({ source: plugins });
    for (const work of [checkPlayers(loaded, plugins), prepareRun(loaded, { host, algorithms: plugins })])
      await expect(work).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(`run.yaml:${message}`),
      });
  });

  test.each([
    ["{browser: {main: many}}", "environments[0].reward_sharing.browser.main"],
    ["{browser: {main: .inf}}", "environments[0].reward_sharing.browser.main"],
    ["{browser: 1}", "environments[0].reward_sharing.browser"],
    ['{browser: {"__proto__": 1}}', 'environments[0].reward_sharing.browser: "__proto__" is no role'],
  ])("%s is refused when it is read", (sharing, place) => {
    expect(() => configured(`    reward_sharing: ${sharing}`)).toThrow(place);
  });

  test("an evaluation has none", () => {
    expect(() =>
      configured("    max_turns: 9\neval: {environments: [{id: counter, reward_sharing: {main: {main: 2}}}]}"),
    ).toThrow(/reward_sharing/);
  });
});
