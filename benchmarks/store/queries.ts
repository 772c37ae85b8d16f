/** A store of many episodes with two roles, and queries of its views. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { openEpisodeStore, queryStore } from "@mrlm/store";
import { median } from "../train/measurement.ts";
import { writeStep } from "./operations.ts";

const STEPS = 200;
const GROUPS = 50;
const SIZE = 10;
const TOKENS = 16;
const ROUNDS = 5;

/** Queries by reward, by role and by step, each as rows and as an aggregate. */
const QUERIES = {
  reward: "select episode, role, reward from v_episodes where reward > 0.99 order by reward desc limit 100",
  reward_mean: "select count(*), avg(tokens) from v_episodes where reward >= 0.5",
  role: "select role, count(*), avg(reward), avg(tokens) from v_episodes group by role",
  role_rows: "select * from v_episodes where role = 'con' and reward < 0.01 limit 100",
  step: "select run_step, avg(reward) from v_episodes group by run_step",
  step_rows: "select * from v_episodes where run_step = 150",
} as const;

/** Milliseconds of each query, median of several; of the start of its process; of each take while the store grew. */
export interface QueryCost {
  readonly episodes: number;
  readonly queries: Readonly<Record<string, number>>;
  readonly start: number;
  readonly takes: readonly number[];
}

export async function queryCost(): Promise<QueryCost> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const path = join(folder, "episodes.sqlite");
  const takes = await fillStore(path, "bench");
  const queries: Record<string, number> = {};
  const starts: number[] = [];
  for (const [name, sql] of Object.entries(QUERIES)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now();
      const { seconds } = await queryStore({ path }, sql, { rows: 100_000, seconds: 60, megabytes: 2_048 });
      times.push(seconds * 1000);
      starts.push(performance.now() - began - seconds * 1000);
    }
    queries[name] = median(times);
  }
  rmSync(folder, { recursive: true });
  return { episodes: STEPS * GROUPS * SIZE, queries, start: median(starts), takes };
}

/** Writes a store of 100,000 episodes. Returns the milliseconds of each take. */
export async function fillStore(path: string, run: string): Promise<number[]> {
  const store = await openEpisodeStore({ path, run, purpose: "train", endsLeases: true });
  const takes: number[] = [];
  for (let step = 1; step <= STEPS; step++) {
    const { take } = await writeStep(store, step, { groups: groupsOf(step), credits: [], metrics: {} });
    takes.push(take * 1000);
  }
  await store.close();
  return takes;
}

function groupsOf(step: number): TrajectoryGroup[] {
  return Array.from({ length: GROUPS }, (_, group) => {
    const id = `bench/${step}/${group}`;
    const trajectories = Array.from({ length: SIZE }, (__, member) => episodeOf(id, group, member, step));
    const { pro, con } = trajectories[0]?.agents ?? {};
    return { id, task: `train/${group}`, players: { pro: playerOf(pro), con: playerOf(con) }, trajectories };
  });
}

function playerOf(part: Trajectory["agents"][string] | undefined): PlayedBy {
  return part?.player ?? { kind: "scripted", name: "none" };
}

function episodeOf(group: string, task: number, member: number, step: number): Trajectory {
  const part = (role: string, player: PlayedBy, reward: number): Trajectory["agents"][string] => ({
    role,
    player,
    segments: [
      {
        tokens: new Int32Array(TOKENS).fill(member),
        logprobs: new Float32Array(TOKENS).fill(-0.5),
        mask: new Uint8Array(TOKENS).fill(1),
        versions: new Int32Array(TOKENS).fill(step),
        parent: null,
      },
    ],
    total: { scored: true, value: reward, components: { correct: reward } },
    end: { terminated: true, truncated: false },
  });
  // Rewards from 0 to 1 that differ between episodes.
  const reward = ((step * 7919 + task * 104_729 + member * 1299) % 1000) / 999;
  return {
    id: `${group}/${member}`,
    environment: "debate@1",
    task: `train/${task}`,
    seed: step,
    group,
    member,
    turns: [],
    agents: {
      pro: part("pro", { kind: "policy", name: "policy", policy: "policy", version: step }, reward),
      con: part("con", { kind: "scripted", name: "random" }, 1 - reward),
    },
    seconds: { sampling: 1, environment: 0.1 },
  };
}
