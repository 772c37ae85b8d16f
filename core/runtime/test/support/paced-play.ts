import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { StagePlay } from "@mrlm/runtime";
import { score, type TrajectoryGroup } from "@mrlm/spec";
import type { RolloutRequest } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import type { CurriculumSettings } from "../../src/play/curriculum/task-pool.ts";
import type { PlayMode, StagePlayState } from "../../src/play/stage-play.ts";
import type { GroupPlayer } from "../../src/play/take-player.ts";
import { environment } from "./learners.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Shape of a simulated run of one process. */
export interface PacedShape {
  readonly takes: number;
  readonly groups: number;
  readonly mode: PlayMode;
  readonly learnSeconds: number;
  /** Returns the seconds of the play of a group, by its number from 1 and its task. */
  durationOf(number: number, task: number): number;
  /** Groups that are played at the same time. Default: as many as are open. */
  readonly atOnce?: number;
  /** Tasks whose groups the algorithm refuses. Default: none. */
  refuses?(task: number): boolean;
  /** Reward of the group of a task. Default: 1. */
  rewardOf?(number: number, task: number): number;
  /** Default: each task once in an epoch. */
  readonly curriculum?: CurriculumSettings;
  /** Seconds after a publication in which tokens are still sampled with the weights before. Default: 0. */
  readonly delaySeconds?: number;
  /** Number of takes after which the process ends in the middle of its play. Another one continues from the last checkpoint; there is one before each second take. Default: it does not end. */
  readonly killedAfter?: number;
}

/** Take of a simulated run. */
export interface PacedTake {
  /** Numbers and tasks of the groups that are learnt from, in their order. */
  readonly numbers: readonly number[];
  readonly tasks: readonly number[];
  /** Number of groups that were refused, and the largest age of a token that is learnt from. */
  readonly refused: number;
  readonly oldest: number;
  /** Virtual seconds from the begin. */
  readonly at: number;
  readonly metrics: Readonly<Record<string, number>>;
}

const PLAYER = { kind: "policy", name: "policy", policy: "policy" } as const;

/** Simulates an asynchronous run in virtual time: stage play, leases, task order and store are the real ones. Rejects where everything waits for ever. */
export async function pacedPlay(shape: PacedShape): Promise<PacedTake[]> {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-pace-"));
  const clock = new VirtualClock();
  try {
    return await clock.run(train(shape, clock, join(directory, "episodes.sqlite")));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function train(shape: PacedShape, clock: VirtualClock, path: string): Promise<PacedTake[]> {
  const taken: PacedTake[] = [];
  const { takes, killedAfter = takes } = shape;
  const saved = await runProcess(shape, clock, path, taken, { from: 1, to: killedAfter });
  if (killedAfter < takes) await runProcess(shape, clock, path, taken, { from: saved.from, to: takes }, saved.state);
  return taken;
}

/** Runs a training process, and returns the state of its last checkpoint with the iteration after it. */
async function runProcess(
  {
    takes,
    groups,
    mode,
    learnSeconds,
    durationOf,
    atOnce = 1_000,
    refuses = () => false,
    rewardOf = () => 1,
    curriculum,
    delaySeconds = 0,
  }: PacedShape,
  clock: VirtualClock,
  path: string,
  taken: PacedTake[],
  { from, to }: { readonly from: number; readonly to: number },
  restored?: StagePlayState,
): Promise<{ readonly from: number; readonly state: StagePlayState }> {
  const store = await openLocalStore({ path, run: "paced", purpose: "train", endsLeases: true }, () =>
    Math.round(clock.now()),
  );
  let version = from - 2;
  let iteration = from;
  const taskOf = (task: string): number => Number(task.split("/")[1]);
  const publications: number[] = [];
  const sampling = (): number => {
    const since = clock.now() - 1000 * delaySeconds;
    return version - publications.filter((at) => at > since).length;
  };
  const play = async (request: RolloutRequest, task: string): Promise<TrajectoryGroup> => {
    const began = Math.max(0, sampling());
    await clock.sleep(1000 * durationOf(numberOf(request.label), taskOf(task)), request.signal);
    const reward = rewardOf(numberOf(request.label), taskOf(task));
    return groupOf(`${request.label}/e@1/${task}`, task, [began, Math.max(0, sampling())], reward);
  };
  const rollouts: GroupPlayer = {
    groupsOf: async ({ label, tasks }) => tasks.map((task) => ({ id: `${label}/e@1/${task}`, task, seed: 0, size: 1 })),
    async *collect(request) {
      for (const task of request.tasks) yield play(request, task);
    },
  };
  const stage = new StagePlay(
    {
      algorithms: { policy: "test@1" },
      plan: { name: "test", groups, groupSize: 1, refills: 100, accept: ({ task }) => !refuses(taskOf(task)) },
      stage: 0,
      stageName: "test",
      sampling: { temperature: 1, maxTokens: 8 },
      environments: [{ ...environment("e@1"), orderedSplits: [] }],
      seed: 3,
      ...(curriculum !== undefined && { curriculum }),
      cohorts: 1,
      iterations: takes,
      mode,
      concurrency: atOnce,
      rollouts,
      store,
      progress: () => ({ iteration, runStep: iteration }),
      publish: async () => {
        version++;
        publications.push(clock.now());
        return { versions: { policy: version }, checksum: `sum-${version}` };
      },
      signal: new AbortController().signal,
      clock,
    },
    restored,
  );
  let saved = { from, state: stage.state() };
  const source = stage.source("policy");
  for (; iteration <= to; iteration++) {
    if (iteration % 2 === 1)
      saved = { from: iteration, state: JSON.parse(JSON.stringify(stage.state())) as StagePlayState };
    const batch = await source.take();
    taken[iteration - 1] = {
      numbers: batch.groups.map(({ id }) => numberOf(id)),
      tasks: batch.groups.map(({ task }) => taskOf(task)),
      refused: batch.played.length - batch.groups.length,
      oldest: Math.max(...batch.groups.map((group) => batch.version - oldestOf(group))),
      at: clock.now() / 1000,
      metrics: stage.lap()?.metrics ?? {},
    };
    await clock.sleep(1000 * learnSeconds);
  }
  await stage.close();
  await store.close();
  await turn();
  return saved;
}

/** Labels and ids of groups have the number of the group in the third place. */
function numberOf(id: string): number {
  return Number(id.split("/")[2]);
}

function groupOf(id: string, task: string, [began, ended]: readonly [number, number], reward: number): TrajectoryGroup {
  const segment = {
    tokens: Int32Array.of(1, 2, 3),
    logprobs: Float32Array.of(0, -1, -2),
    mask: Uint8Array.of(0, 1, 1),
    versions: Int32Array.of(-1, began, ended),
    parent: null,
  };
  const part = { role: "agent", player: PLAYER, segments: [segment], total: score(reward) };
  const agents = { agent: { ...part, end: { terminated: true, truncated: false } } };
  const seconds = { sampling: 1, environment: 1 };
  const trajectory = {
    id: `${id}/0`,
    environment: "e@1",
    task,
    seed: 0,
    group: id,
    member: 0,
    turns: [],
    agents,
    seconds,
  };
  return { id, task, players: { agent: PLAYER }, trajectories: [trajectory] };
}

function oldestOf({ trajectories }: TrajectoryGroup): number {
  const versions = trajectories.flatMap(({ agents }) => Object.values(agents).flatMap(({ segments }) => segments));
  return Math.min(...versions.flatMap((segment) => [...segment.versions].filter((each) => each >= 0)));
}
