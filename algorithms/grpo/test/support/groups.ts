import { score } from "@mrlm/kit";
import type { TrajectoryGroup } from "@mrlm/kit/learning";
import type { Segment, Trajectory, TurnRecord } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { type GrpoOptions, grpoOptions } from "../../src/options.ts";
import type { EpisodeSample, GroupSample } from "../../src/samples.ts";

/** The learning policy. */
export const player: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };

export const options = (changes: Partial<GrpoOptions> = {}): GrpoOptions => ({
  ...grpoOptions.parse({ steps: 1 }),
  ...changes,
});

/** Returns a segment whose chosen tokens (mask 1) have the log-probability -1 and version 1, by default. */
export const segment = (mask: number[], changes: Partial<Segment> = {}): Segment => ({
  tokens: Int32Array.from(mask, (_, t) => t),
  logprobs: Float32Array.from(mask, (chosen) => -chosen),
  mask: Uint8Array.from(mask),
  versions: Int32Array.from(mask, (chosen) => (chosen === 1 ? 1 : -1)),
  parent: null,
  ...changes,
});

export const turn = (changes: Partial<TurnRecord> = {}): TurnRecord => ({
  agent: "agent",
  messages: [],
  response: { role: "assistant", parts: [] },
  tokens: { segment: 0, start: 1, end: 3 },
  stopReason: "stop",
  rewards: {},
  ...changes,
});

export const episode = (
  reward: number,
  changes: Partial<Trajectory> = {},
  segments: Segment[] = [segment([0, 1, 1])],
): Trajectory => ({
  id: "episode",
  environment: "test@1",
  task: "train/0",
  seed: 0,
  group: "group",
  member: 0,
  turns: [turn()],
  agents: {
    agent: { role: "agent", player, segments, total: score(reward), end: { terminated: true, truncated: false } },
  },
  seconds: { sampling: 0, environment: 0 },
  ...changes,
});

export const group = (...trajectories: Trajectory[]): TrajectoryGroup => ({
  id: "group",
  task: "train/0",
  players: { agent: player },
  trajectories,
});

/** Returns an episode of rows with these masks; its sampled log-probabilities are given or -1. */
export const sample = (advantage: number, masks: number[][], sampled?: number[]): EpisodeSample => ({
  trajectory: "episode",
  agent: "agent",
  rows: masks.map((mask) => ({ tokens: new Int32Array(mask.length), mask: Uint8Array.from(mask) })),
  sampled: Float32Array.from(
    sampled ??
      masks
        .flat()
        .filter((chosen) => chosen === 1)
        .map(() => -1),
  ),
  advantage,
  age: 0,
});

export const groupSample = (...episodes: EpisodeSample[]): GroupSample => ({ episodes });
