import type { SQLInputValue } from "node:sqlite";
import type { AgentId, AgentTrajectory, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { encodeJson } from "./json.ts";
import { bytesOf, encodeRuns } from "./runs.ts";

/** Values of one row, in the order of its columns after the keys. */
type Values = readonly SQLInputValue[];

/** A segment: its place, and the ends of its tokens, log-probabilities, mask and versions in the bytes of the groups, from `start`. */
export interface EncodedSegment {
  readonly part: number;
  readonly position: number;
  readonly parent: number | null;
  readonly length: number;
  readonly start: number;
  readonly ends: readonly [tokens: number, logprobs: number, mask: number, versions: number];
}

/** An episode as the values of its rows. */
export interface EncodedEpisode {
  /** Index in the groups. */
  readonly of: number;
  readonly group: string;
  readonly id: string;
  readonly head: Values;
  readonly turns: readonly Values[];
  readonly parts: readonly Values[];
  readonly segments: readonly EncodedSegment[];
}

/** A group without its episodes; `players` is JSON. */
export interface EncodedGroup extends Pick<TrajectoryGroup, "id" | "task"> {
  readonly players: string;
}

/**
 * Groups as the values of their rows, with the bytes of all arrays in one buffer. A thread receives it for a quarter of the time that a copy of
 * the groups takes: objects and small arrays are slow to copy, strings and a transferred buffer are not.
 */
export interface EncodedGroups {
  readonly groups: readonly EncodedGroup[];
  readonly episodes: readonly EncodedEpisode[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export function encodeGroups(groups: readonly TrajectoryGroup[]): EncodedGroups {
  const blobs = new Blobs();
  return {
    groups: groups.map(({ id, task, players }) => ({ id, task, players: encodeJson(players) })),
    episodes: groups.flatMap(({ trajectories }, of) =>
      trajectories.map((episode) => encodeEpisode(of, episode, blobs)),
    ),
    bytes: blobs.joined(),
  };
}

/** Arrays in the order in which they were added. */
class Blobs {
  readonly #added: Uint8Array[] = [];
  #end = 0;

  get end(): number {
    return this.#end;
  }

  /** Returns the end of the added bytes. */
  add(bytes: Uint8Array): number {
    this.#added.push(bytes);
    return (this.#end += bytes.length);
  }

  joined(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#end);
    let at = 0;
    for (const each of this.#added) {
      bytes.set(each, at);
      at += each.length;
    }
    return bytes;
  }
}

function encodeEpisode(of: number, trajectory: Trajectory, blobs: Blobs): EncodedEpisode {
  const { id, group, environment, task, seed, member, error, info, seconds, turns, agents } = trajectory;
  const parts = Object.entries(agents);
  return {
    of,
    group,
    id,
    head: [
      member,
      id,
      environment,
      task,
      seed,
      error === undefined ? null : encodeJson(error),
      info === undefined ? null : encodeJson(info),
      seconds.sampling,
      seconds.environment,
      seconds.players ?? null,
    ],
    turns: turns.map((turn) => [turn.agent, encodeJson(turn)]),
    parts: parts.map(([agent, part]) => encodePart(agent, part, turns.filter((turn) => turn.agent === agent).length)),
    segments: parts.flatMap(([, { segments }], part) =>
      segments.map(({ tokens, logprobs, mask, versions, parent }, position) => ({
        part,
        position,
        parent,
        length: tokens.length,
        start: blobs.end,
        ends: [
          blobs.add(bytesOf(tokens)),
          blobs.add(bytesOf(logprobs)),
          blobs.add(encodeRuns(mask)),
          blobs.add(encodeRuns(versions)),
        ] as const,
      })),
    ),
  };
}

function encodePart(
  agent: AgentId,
  { role, player, segments, total, shared, end }: AgentTrajectory,
  turns: number,
): Values {
  let tokens = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  for (const { mask, versions } of segments)
    for (let i = 0; i < mask.length; i++) {
      if (mask[i] === 0) continue;
      tokens++;
      oldest = Math.min(oldest, versions[i] as number);
      newest = Math.max(newest, versions[i] as number);
    }
  return [
    agent,
    role,
    player.kind,
    player.name,
    player.policy ?? null,
    player.version ?? null,
    total.scored ? total.value : null,
    encodeJson(total),
    shared === undefined ? null : encodeJson(shared),
    Number(end.terminated),
    Number(end.truncated),
    end.truncatedBy ?? null,
    turns,
    tokens,
    tokens === 0 ? null : oldest,
    tokens === 0 ? null : newest,
  ];
}
