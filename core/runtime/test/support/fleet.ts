import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomStream } from "@mrlm/kit";
import { StagePlay } from "@mrlm/runtime";
import type { StagePlayState } from "../../src/play/stage-play.ts";
import type { EpisodeStore, RolloutRequest } from "@mrlm/spec/host";
import { type RandomStream, score, type TrajectoryGroup } from "@mrlm/spec";
import { openLocalStore } from "@mrlm/store";
import { cohortRequest } from "../../src/play/cohort-requests.ts";
import { CohortWorker, playLeases } from "../../src/play/cohort-worker.ts";
import type { GroupPlayer } from "../../src/play/take-player.ts";
import { type FleetRecord, readFleet } from "./fleet-record.ts";
import { environment } from "./learners.ts";
import { stoppedWithin, VirtualClock } from "./virtual-clock.ts";

/** Size of a simulated run, and its seed. */
export interface FleetShape {
  readonly seed: number;
  /** Number of takes of the training process. */
  readonly takes: number;
  readonly groups: number;
  readonly groupSize: number;
  readonly lag: number;
  /** Groups that a process plays at the same time. */
  readonly atOnce: number;
  /** Time for which a worker leases a group, in milliseconds. It is stopped for a third longer. */
  readonly leaseMs: number;
  /** Mean times from the start of a process until it is killed, in milliseconds. */
  readonly lifeMs: { readonly training: number; readonly worker: number };
}

/** Outcome of a simulated run. */
export interface FleetOutcome extends FleetRecord {
  /** Violations of what asynchronous play promises. */
  readonly faults: readonly string[];
  readonly trainings: number;
  readonly deaths: number;
  readonly late: number;
  /** Groups that were refused because a token was older than the lag. */
  readonly tooOld: number;
  /** Largest age of a token that was learnt from, in versions. */
  readonly oldest: number;
  /** Virtual seconds. */
  readonly seconds: number;
}

const LEARNER = "0/policy";
const ENVIRONMENTS = [environment("e@1"), environment("f@1", 2)];
const SAMPLING = { temperature: 1, maxTokens: 8 };
const POLICY = { kind: "policy", name: "policy", policy: "policy" } as const;
/** Time of an episode against that of the distribution, by worker. */
const PACES = [1, 1, 1, 0.4, 2, 4];
const LEARNING_MS = 500;
const CHECKPOINT_EVERY = 7;
/** Time until another process is started, in milliseconds. */
const RESTART_MS = 3_000;
/** exp(MU + SIGMA² / 2) = 1 and exp(MU + 2.326 SIGMA) = 10: waits of a lognormal distribution with mean 1 s and 99th percentile 10 s. */
const SIGMA = 1.429;
const MU = -(SIGMA ** 2) / 2;

function waitOf(random: RandomStream): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return 1000 * Math.exp(MU + SIGMA * normal);
}

const exponential = (random: RandomStream, mean: number): number => -mean * Math.log(1 - random.next());
const refuses = ({ task }: { readonly task: string }): boolean => Number(task.split("/")[1]) % 6 === 0;

/**
 * Simulates an asynchronous run: a training process that is killed and resumed, and rollout workers of several speeds that are killed, stopped for longer than
 * a lease, and started again. Stage play, workers, leases, task order and store (a file of SQLite with a connection for each process) are the real ones; episodes
 * and time are not.
 */
export async function simulateFleet(shape: FleetShape): Promise<FleetOutcome> {
  const directory = mkdtempSync(join(tmpdir(), "mrlm-fleet-"));
  try {
    return await new Fleet(shape, join(directory, "episodes.sqlite")).run();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

class Fleet {
  readonly #shape: FleetShape;
  readonly #path: string;
  readonly #clock = new VirtualClock();
  readonly #random: RandomStream;
  readonly #end = new AbortController();
  readonly #faults: string[] = [];
  /** Ids of the groups of each take. */
  readonly #learnt = new Map<number, readonly string[]>();
  /** Newest published version. */
  #version = 0;
  #plays = 0;
  #longestMs = 0;
  #oldest = 0;
  #late = 0;
  readonly #tooOld = new Set<string>();
  #trainings = 0;
  #deaths = 0;

  constructor(shape: FleetShape, path: string) {
    this.#shape = shape;
    this.#path = path;
    this.#random = randomStream("fleet", shape.seed);
  }

  async run(): Promise<FleetOutcome> {
    const store = await this.#open(true);
    const workers = Promise.all(PACES.map((pace, i) => this.#worker(`worker-${i}`, pace)));
    await this.#clock.run(this.#train(store));
    this.#end.abort();
    await this.#clock.run(workers);
    const { groups, lag, leaseMs } = this.#shape;
    const record = readFleet(this.#path, LEARNER, this.#learnt);
    const faults = [...this.#faults, ...record.faults];
    for (const [what, takes] of Object.entries(record.waits))
      if (takes > lag + 1) faults.push(`a group waited ${takes} takes ${what}`);
    // A lease that ended passes to the next free worker: nothing is under way for longer than a lease and a play.
    if (record.longestLeaseMs > leaseMs + (leaseMs * 4) / 3 + this.#longestMs)
      faults.push(`a group was leased ${record.longestLeaseMs} ms before the end, and no worker plays it`);
    if (record.largestBuffer > (lag + 1) * groups) faults.push(`${record.largestBuffer} groups were outstanding`);
    return {
      ...record,
      faults,
      trainings: this.#trainings,
      deaths: this.#deaths,
      late: this.#late,
      tooOld: this.#tooOld.size,
      oldest: this.#oldest,
      seconds: this.#clock.now() / 1000,
    };
  }

  #open(endsLeases: boolean, resumedAt = 0): Promise<EpisodeStore> {
    const resumed = resumedAt === 0 ? {} : { resumedAt };
    return openLocalStore({ path: this.#path, run: "fleet", purpose: "train", endsLeases, ...resumed }, () =>
      Math.round(this.#clock.now()),
    );
  }

  /** Training processes, each of which continues from the last checkpoint of the one before. */
  async #train(first: EpisodeStore): Promise<void> {
    let saved: { readonly state: StagePlayState; readonly iteration: number } | undefined;
    for (let store = first; ;) {
      this.#trainings++;
      const killed = new AbortController();
      void this.#clock.sleep(exponential(this.#random, this.#shape.lifeMs.training), this.#end.signal).then(
        () => killed.abort(),
        () => undefined,
      );
      const at = { iteration: (saved?.iteration ?? 0) + 1 };
      let version = saved?.iteration ?? 0;
      const learner = this.#learner(store, at, () => version++, killed.signal, saved?.state);
      try {
        for (; at.iteration <= this.#shape.takes; at.iteration++) {
          await this.#take(learner, at.iteration);
          await this.#clock.sleep(LEARNING_MS, killed.signal);
          if (at.iteration % CHECKPOINT_EVERY === 0)
            saved = { state: JSON.parse(JSON.stringify(learner.state())) as StagePlayState, iteration: at.iteration };
        }
        return await this.#finish(learner, store);
      } catch (error) {
        if (!killed.signal.aborted) throw error;
      }
      await learner.close();
      await store.close();
      await this.#clock.sleep(RESTART_MS);
      store = await this.#open(true, saved?.iteration);
    }
  }

  #learner(
    store: EpisodeStore,
    at: { readonly iteration: number },
    publish: () => number,
    signal: AbortSignal,
    saved: StagePlayState | undefined,
  ): StagePlay {
    const { groups, groupSize, lag, takes } = this.#shape;
    return new StagePlay(
      {
        algorithms: { policy: "test@1" },
        plan: { name: "test", groups, groupSize, refills: 2, accept: (group) => !refuses(group) },
        stage: 0,
        stageName: "test",
        sampling: SAMPLING,
        environments: ENVIRONMENTS,
        seed: 3,
        cohorts: 1,
        iterations: takes,
        mode: { mode: "async", lag },
        concurrency: this.#shape.atOnce * groupSize,
        rollouts: this.#rollouts(1),
        store,
        progress: () => ({ iteration: at.iteration, runStep: at.iteration }),
        publish: async () => {
          const version = publish();
          this.#version = version;
          return { versions: { policy: version }, checksum: `sum-${version}` };
        },
        signal,
        clock: this.#clock,
      },
      saved,
    );
  }

  async #take(learner: StagePlay, number: number): Promise<void> {
    const { groups, played, version } = await learner.source("policy").take();
    const ids = groups.map(({ id }) => id);
    for (const group of played) if (!groups.includes(group) && !refuses(group)) this.#tooOld.add(group.id);
    const before = this.#learnt.get(number);
    if (before !== undefined && before.join() !== ids.join()) this.#faults.push(`take ${number} has other groups`);
    this.#learnt.set(number, ids);
    for (const age of groups.flatMap((group) => agesOf(group, version))) {
      if (age > this.#shape.lag || age < 0) this.#faults.push(`take ${number} has a token of age ${age}`);
      this.#oldest = Math.max(this.#oldest, age);
    }
    this.#late += learner.lap()?.metrics["buffer/late"] ?? 0;
  }

  /** Ends the stage, for which nothing is played beyond its last take. */
  async #finish(learner: StagePlay, store: EpisodeStore): Promise<void> {
    const { open, leased, ready } = await store.buffer(LEARNER);
    if (open + leased + ready !== 0)
      this.#faults.push(`${open + leased + ready} groups are outstanding after the last take`);
    await learner.close();
    await store.flush();
    await store.close();
  }

  /** A place for a rollout worker, with one process after the other. */
  async #worker(name: string, pace: number): Promise<void> {
    const { signal: end } = this.#end;
    const { atOnce, leaseMs, lifeMs: mean } = this.#shape;
    for (let life = 0; !end.aborted; life++) {
      const killed = new AbortController();
      const [begin, lifeMs] = [this.#clock.now(), exponential(this.#random, mean.worker)];
      const stops = life % 3 === 1 ? ([[begin + lifeMs / 4, begin + lifeMs / 4 + (leaseMs * 4) / 3]] as const) : [];
      void this.#clock.sleep(lifeMs, end).then(
        () => killed.abort(),
        () => undefined,
      );
      const store = await this.#open(false);
      const rollouts = this.#rollouts(pace);
      const stage = { policy: "policy", sampling: SAMPLING, environments: ENVIRONMENTS };
      const worker = new CohortWorker({
        store,
        name: `${name}-${life}`,
        play: (cohort, signal) => rollouts.collect({ ...cohortRequest(stage, cohort), signal }),
        leaseMs,
        clock: stoppedWithin(this.#clock, stops),
      });
      await playLeases(worker, {
        limit: () => atOnce,
        signal: AbortSignal.any([end, killed.signal]),
        onPlayed: ({ result }) => void (this.#late += result === "late" ? 1 : 0),
      });
      await store.close();
      if (end.aborted) return;
      this.#deaths++;
      await this.#clock.sleep(RESTART_MS, end).catch(() => undefined);
    }
  }

  /** Episodes of two tokens: one of the weights at the begin, and one of those after the wait. */
  #rollouts(pace: number): GroupPlayer {
    const { seed, groupSize } = this.#shape;
    const idOf = ({ label }: RolloutRequest, task: string): string => `${label}/${task}`;
    const play = async (request: RolloutRequest, task: string): Promise<TrajectoryGroup> => {
      const id = idOf(request, task);
      const random = randomStream(`${id}/${++this.#plays}`, seed);
      const first = this.#version;
      const trajectories = await Promise.all(
        Array.from({ length: groupSize }, async (_, member) => {
          const ms = waitOf(random.fork(String(member))) * pace;
          this.#longestMs = Math.max(this.#longestMs, ms);
          await this.#clock.sleep(ms, request.signal);
          return episode(request, id, task, member, [first, this.#version]);
        }),
      );
      return { id, task, players: { agent: POLICY }, trajectories };
    };
    return {
      groupsOf: async (request) =>
        request.tasks.map((task) => ({ id: idOf(request, task), task, seed: 0, size: groupSize })),
      async *collect(request) {
        for (const task of request.tasks) yield play(request, task);
      },
    };
  }
}

function episode(
  { environment: { id: environmentId } }: RolloutRequest,
  group: string,
  task: string,
  member: number,
  versions: readonly [number, number],
): TrajectoryGroup["trajectories"][number] {
  const segment = {
    tokens: Int32Array.of(1, 2, 3),
    logprobs: Float32Array.of(0, -1, -2),
    mask: Uint8Array.of(0, 1, 1),
    versions: Int32Array.of(-1, ...versions),
    parent: null,
  };
  return {
    id: `${group}/${member}`,
    environment: environmentId,
    task,
    seed: 0,
    group,
    member,
    turns: [],
    agents: {
      agent: {
        role: "agent",
        player: POLICY,
        segments: [segment],
        total: score(1),
        end: { terminated: true, truncated: false },
      },
    },
    seconds: { sampling: 1, environment: 1 },
  };
}

function agesOf({ trajectories }: TrajectoryGroup, newest: number): number[] {
  return trajectories.flatMap(({ agents }) =>
    Object.values(agents).flatMap(({ segments }) =>
      segments.flatMap(({ mask, versions }) => [...versions].filter((_, t) => mask[t] === 1).map((v) => newest - v)),
    ),
  );
}
