import { expect, test } from "@jest/globals";
import { listedTasks, randomStream, textMessage } from "@mrlm/kit";
import { toRecordedRows } from "@mrlm/kit/learning";
import {
  type AgentId,
  type EnvironmentDefinition,
  type Reward,
  roleOf,
  score,
  type Trajectory,
  unscored,
} from "@mrlm/spec";
import type { RewardSharing } from "@mrlm/spec/host";
import { totalReward } from "../src/rollouts/episode-record.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { collect, localHost, runner } from "./support/rollouts.ts";

const CASES = 600;
const LIMIT = 48;
const SHARING: RewardSharing = { browser: { browser: 1, main: 0.5 }, main: { main: 1, critic: -1, browser: 0.25 } };
const MANY = ["browser", "critic"];

/** Environment whose turns, fresh conversations, rewards and ends are drawn from the task. Agents join at any step. */
function drawn(): EnvironmentDefinition<any> {
  return counterEnvironment({
    roles: { main: {}, browser: { many: true }, critic: { many: true } },
    tasks: () =>
      listedTasks({ train: Array.from({ length: CASES }, (_, i) => i), eval: [CASES] }, (number) => ({
        public: { number },
        private: {},
      })),
    create: () => {
      let random = randomStream("sub-agents", 0);
      let named = new Set<AgentId>();
      let ended = new Set<AgentId>();
      let left = 0;
      const show = (agent: AgentId) => {
        named.add(agent);
        const length = random.integer(1, random.next() < 0.2 ? 40 : 6);
        const isFresh = random.next() < 0.3;
        return { agent, messages: [textMessage("user", "a".repeat(length))], ...(isFresh ? { isFresh } : {}) };
      };
      const next = (): AgentId => {
        const living = [...named].filter((agent) => !ended.has(agent));
        if (living.length > 0 && random.next() < 0.6) return random.pick(living);
        const role = random.pick(MANY);
        return `${role}#${1 + [...named].filter((agent) => roleOf(agent) === role).length}`;
      };
      return {
        async reset({ task = "train/0" }) {
          random = randomStream("sub-agents", Number(task.split("/")[1]));
          [named, ended, left] = [new Set(["main"]), new Set(), random.integer(1, 12)];
          return show("main");
        },
        async step({ agent, finishReason }) {
          left--;
          if (finishReason === "exhausted") ended.add(agent);
          const rewards: Record<AgentId, Reward> = {};
          for (const each of named)
            if (random.next() < 0.4)
              rewards[each] =
                random.next() < 0.03 ? unscored("JUDGE_FAILED", "down") : score(random.integer(-4, 4) / 4, { part: 1 });
          const flags = { terminated: {} as Record<AgentId, boolean>, truncated: {} as Record<AgentId, boolean> };
          const end = (each: AgentId): void => {
            ended.add(each);
            flags[random.next() < 0.8 ? "terminated" : "truncated"][each] = true;
          };
          if (left === 0) {
            for (const each of named) if (!ended.has(each)) end(each);
            return { observation: { agent: "", messages: [] }, rewards, ...flags };
          }
          for (const each of [...named]) if (!ended.has(each) && random.next() < 0.15) end(each);
          return { observation: show(next()), rewards, ...flags };
        },
      };
    },
  });
}

/** Returns the faults of a trajectory. */
function faultsOf({ turns, agents, error }: Trajectory): string[] {
  if (error !== undefined) return [`failed with ${error.code}: ${error.message}`];
  const faults: string[] = [];
  const check = (isRight: boolean, text: string): void => void (isRight || faults.push(text));
  for (const [agent, { role, total, shared, segments, end }] of Object.entries(agents)) {
    const own = turns.filter((turn) => turn.agent === agent);
    const acted = own.filter(({ stopReason }) => stopReason !== "exhausted");
    check(role === roleOf(agent), `${agent}: role ${role}`);
    check(end.terminated || end.truncated, `${agent}: no end`);
    const earned = totalReward(turns.flatMap(({ rewards }) => rewards[agent] ?? []));
    check(JSON.stringify(earned) === JSON.stringify(total), `${agent}: total`);
    // A first turn, and each fresh one, begins a segment without a parent.
    const begins = acted.filter(({ isFresh }, i) => i === 0 || isFresh === true).length;
    check(segments.filter(({ parent }) => parent === null).length === begins, `${agent}: ${begins} conversations`);
    const sampled = acted.reduce((sum, { tokens }) => sum + (tokens === undefined ? 0 : tokens.end - tokens.start), 0);
    const masked = segments.reduce((sum, { mask }) => sum + mask.reduce((count, bit) => count + bit, 0), 0);
    check(sampled === masked, `${agent}: ${sampled} sampled, ${masked} masked`);
    check(
      segments.every(({ tokens }) => tokens.length <= LIMIT),
      `${agent}: longer than its context`,
    );
    const isExhausted = own.some(({ stopReason }) => stopReason === "exhausted");
    if (isExhausted) check(own.at(-1)?.stopReason === "exhausted", `${agent}: a turn after its context was full`);
    check((shared === undefined) === (role === "critic"), `${agent}: shared`);
    if (shared?.scored === true) {
      const value = Object.entries(shared.weights).reduce((sum, [other, weight]) => {
        const term = agents[other]?.total;
        return sum + weight * (term?.scored === true ? term.value : Number.NaN);
      }, 0);
      check(Math.abs(value - shared.value) < 1e-12, `${agent}: shared value`);
    }
  }
  return faults;
}

test(`${CASES} drawn episodes of agents that join, start over, end and run out of context are recorded whole`, async () => {
  const played = await runner({ host: await localHost(drawn()), tokenLimit: () => LIMIT });
  const tasks = Array.from({ length: CASES }, (_, i) => `train/${i}` as const);
  const seen = { exhausted: 0, fresh: 0, agents: 0, unlearnt: 0 };
  const groups = await collect(played, {
    tasks,
    groupSize: 1,
    rewardSharing: SHARING,
    sampling: { temperature: 1, maxTokens: 6 },
  });
  for (const trajectory of groups.flatMap(({ trajectories }) => trajectories)) {
    expect([trajectory.task, faultsOf(trajectory)]).toEqual([trajectory.task, []]);
    const parts = Object.entries(trajectory.agents);
    for (const row of toRecordedRows(trajectory, () => "r")) {
      const [, part] = parts.find(([agent]) => agent === row.agent) as (typeof parts)[number];
      const own = trajectory.turns.filter(({ agent, stopReason }) => agent === row.agent && stopReason !== "exhausted");
      expect(row.turns).toHaveLength(own.length);
      expect(row.fresh_at).toHaveLength(own.slice(1).filter(({ isFresh }) => isFresh === true).length);
      expect(row.reward).toBe(part.total.scored ? part.total.value : null);
      expect(row.shared?.reward).toBe(
        part.shared === undefined ? undefined : part.shared.scored ? part.shared.value : null,
      );
    }
    seen.agents += parts.length;
    seen.exhausted += trajectory.turns.filter(({ stopReason }) => stopReason === "exhausted").length;
    seen.fresh += trajectory.turns.filter(({ isFresh }) => isFresh === true).length;
    seen.unlearnt += parts.filter(([, { shared }]) => shared?.scored === false).length;
  }
  // Each kind of event occurred often enough to be tested.
  expect(seen.agents).toBeGreaterThan(3 * CASES);
  for (const count of [seen.exhausted, seen.fresh, seen.unlearnt]) expect(count).toBeGreaterThan(CASES / 20);
});
