import { score } from "@mrlm/kit";
import type { TrajectoryGroup } from "@mrlm/kit/learning";
import type { Segment, Trajectory, TurnRecord } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { type PpoOptions, ppoOptions } from "../../src/options.ts";

/** The learning policy. */
export const player: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };

export const options = (changes: Partial<PpoOptions> = {}): PpoOptions => ({
  ...ppoOptions.parse({ steps: 1 }),
  ...changes,
});

export const segment = (mask: number[]): Segment => ({
  tokens: Int32Array.from(mask, (_, t) => t),
  logprobs: Float32Array.from(mask, (chosen) => -chosen),
  mask: Uint8Array.from(mask),
  versions: Int32Array.from(mask, (chosen) => (chosen === 1 ? 1 : -1)),
  parent: null,
});

export const turn = (
  start: number,
  end: number,
  reward: number | undefined,
  changes: Partial<TurnRecord> = {},
): TurnRecord => ({
  agent: "agent",
  messages: [],
  response: { role: "assistant", parts: [] },
  tokens: { segment: 0, start, end },
  stopReason: "stop",
  rewards: reward === undefined ? {} : { agent: score(reward) },
  ...changes,
});

export const episode = (
  segments: Segment[],
  turns: TurnRecord[],
  changes: Partial<Trajectory["agents"][string]["end"]> = {},
): Trajectory => ({
  id: "episode",
  environment: "test@1",
  task: "train/0",
  seed: 0,
  group: "group",
  member: 0,
  turns,
  agents: {
    agent: {
      role: "agent",
      player,
      segments,
      total: score(
        turns.reduce((sum, { rewards }) => sum + (rewards["agent"]?.scored ? rewards["agent"].value : 0), 0),
      ),
      end: { terminated: true, truncated: false, ...changes },
    },
  },
  seconds: { sampling: 0, environment: 0 },
});

export const group = (...trajectories: Trajectory[]): TrajectoryGroup => ({
  id: "group",
  task: "train/0",
  players: { agent: player },
  trajectories,
});
