import { afterEach } from "@jest/globals";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EpisodeStore, PlayPlan, RolloutRequest } from "@mrlm/spec/host";
import { score, type TrainingEnvironment, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import { StagePlay } from "@mrlm/runtime";
import type { StagePlayParts, StagePlayState } from "../../src/play/stage-play.ts";
import type { GroupPlayer } from "../../src/play/take-player.ts";
import { openLocalStore } from "@mrlm/store";

export const environment = (id: string, weight = 1): TrainingEnvironment => ({
  ref: { id },
  weight,
  splits: { train: 64 },
  orderedSplits: ["train"],
  hasDemonstrations: false,
  determinism: "full",
  demonstrate: async () => [],
});

/** Plays one episode of one token, sampled by the version that the task's index is given. */
export function fakeRollouts(versionOf: (task: number) => number = () => 10): {
  readonly rollouts: GroupPlayer;
  readonly requests: RolloutRequest[];
} {
  const requests: RolloutRequest[] = [];
  async function* collect(request: RolloutRequest): AsyncGenerator<TrajectoryGroup> {
    requests.push(request);
    for (const task of request.tasks) {
      const version = versionOf(Number(task.split("/")[1]));
      const player = { kind: "policy", name: "policy", policy: "policy" } as const;
      const id = `${request.label}/${task}`;
      const trajectory: Trajectory = {
        id: `${id}/0`,
        environment: request.environment.id,
        task,
        seed: 0,
        group: id,
        member: 0,
        turns: [],
        agents: {
          agent: {
            role: "agent",
            player,
            segments: [
              {
                tokens: Int32Array.of(1, 2),
                logprobs: Float32Array.of(0, -1),
                mask: Uint8Array.of(0, 1),
                versions: Int32Array.of(-1, version),
                parent: null,
              },
            ],
            total: score(1),
            end: { terminated: true, truncated: false },
          },
        },
        seconds: { sampling: 3, environment: 1 },
      };
      yield { id, task, players: { agent: player }, trajectories: [trajectory] };
    }
  }
  const groupsOf: GroupPlayer["groupsOf"] = async ({ tasks, label }) =>
    tasks.map((task) => ({ id: `${label}/${task}`, task, seed: 0, size: 1 }));
  return { rollouts: { collect, groupsOf }, requests };
}

/** Parts of a learner that differ from the usual ones. */
export interface Setting extends Partial<StagePlayParts> {
  readonly plan: PlayPlan | undefined;
}

const stores: EpisodeStore[] = [];

/** Closes what {@link openStore} has opened, after each test of the file that calls this. */
export function closeStoresAfterEach(): void {
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
}

/** Opens a store for a test of a file that calls {@link closeStoresAfterEach}. */
export async function openStore(
  path = join(mkdtempSync(join(tmpdir(), "mrlm-learner-")), "episodes.sqlite"),
): Promise<EpisodeStore> {
  const store = await openLocalStore({ path, run: "test", purpose: "train", endsLeases: true });
  stores.push(store);
  return store;
}

/** Returns a learner whose iteration is that of `at`. */
export async function learnerOf(parts: Setting, restored?: StagePlayState) {
  const at = { iteration: 1 };
  const { rollouts, requests } = fakeRollouts();
  const learner = new StagePlay(
    {
      algorithms: { policy: "test@1" },
      stage: 2,
      stageName: "test",
      sampling: { temperature: 1, maxTokens: 8 },
      environments: [environment("e@1")],
      seed: 3,
      cohorts: 1,
      iterations: 100,
      mode: { mode: "sync", lag: 0 },
      concurrency: 256,
      rollouts,
      store: parts.store ?? (await openStore()),
      progress: () => ({ iteration: at.iteration, runStep: at.iteration }),
      publish: async () => ({ versions: { policy: 10 }, checksum: "a" }),
      signal: new AbortController().signal,
      ...parts,
    },
    restored,
  );
  return { learner: Object.assign(learner, learner.source("policy")), at, requests };
}

export const plan = (changes: Partial<PlayPlan> = {}): PlayPlan => ({
  name: "test",
  groups: 4,
  groupSize: 1,
  ...changes,
});
export const tasksOf = (groups: readonly TrajectoryGroup[]): number[] =>
  groups.map(({ task }) => Number(task.split("/")[1]));

/** Counts plays under way, each of which takes some turns of the event loop. */
export function counted(rollouts: GroupPlayer, state: { playing: number }): GroupPlayer {
  return {
    groupsOf: rollouts.groupsOf,
    async *collect(request) {
      state.playing++;
      try {
        await sleep(2);
        yield* rollouts.collect(request);
      } finally {
        state.playing--;
      }
    },
  };
}
