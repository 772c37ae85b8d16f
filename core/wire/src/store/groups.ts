import type { AgentTrajectory, Segment, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { decodeRuns, encodeRuns } from "@mrlm/store/encoding";
import { bytesOf, floatsOf, integersOf } from "../bytes.ts";
import type * as wire from "../gen/mrlm/store/v1/store.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { jsonCodec } from "../json.ts";
import { FRAME_BYTES } from "../protocol.ts";

/** Bytes of a run of equal integers. */
const RUN_BYTES = 8;

/** Codec: groups, in any number of messages. */
export const groupsCodec = {
  /**
   * Encodes groups in lists of about {@link FRAME_BYTES}, each for one message. A list has one episode at least, and parts of a group may be in
   * several lists. There is one empty list where there are no groups.
   */
  *encode(groups: readonly TrajectoryGroup[]): Generator<wire.Group[]> {
    let message: wire.Group[] = [];
    let bytes = 0;
    for (const group of groups) {
      let part: wire.Group = { ...headOf(group), episodes: [] };
      message.push(part);
      for (const trajectory of group.trajectories) {
        const episode = encodeEpisode(trajectory);
        const size = sizeOf(episode);
        if (bytes > 0 && bytes + size > FRAME_BYTES) {
          yield message;
          part = { ...headOf(group), episodes: [] };
          message = [part];
          bytes = 0;
        }
        part.episodes.push(episode);
        bytes += size;
      }
    }
    yield message;
  },

  /** Decodes groups; parts of one group that follow each other, as of `encode`, become one. Throws MESSAGE_INVALID. */
  decode(groups: Iterable<wire.Group>): TrajectoryGroup[] {
    const decoded: (Omit<TrajectoryGroup, "trajectories"> & { readonly trajectories: Trajectory[] })[] = [];
    for (const { id, task, playersJson, episodes } of groups) {
      const last = decoded.at(-1);
      const trajectories = episodes.map(decodeEpisode);
      if (last?.id === id) last.trajectories.push(...trajectories);
      else
        decoded.push({
          id,
          task: task as TrajectoryGroup["task"],
          players: jsonCodec.decode(playersJson),
          trajectories,
        });
    }
    return decoded;
  },
};

function headOf({ id, task, players }: TrajectoryGroup): Omit<wire.Group, "episodes"> {
  return { id, task, playersJson: jsonCodec.encode(players) };
}

function encodeEpisode(trajectory: Trajectory): wire.Episode {
  const { id, environment, task, seed, group, member, turns, agents, error, info, seconds } = trajectory;
  return {
    id,
    environment,
    task,
    seed: seed === null ? undefined : toInt64(seed, "a seed"),
    group,
    member,
    turnsJson: turns.map(jsonCodec.encode),
    agents: Object.entries(agents).map(([agent, part]) => encodeAgent(agent, part)),
    errorJson: toText(error),
    infoJson: toText(info),
    samplingSeconds: seconds.sampling,
    environmentSeconds: seconds.environment,
    playersSeconds: seconds.players,
  };
}

function decodeEpisode(episode: wire.Episode): Trajectory {
  const { id, environment, task, seed, group, member, errorJson, infoJson, playersSeconds } = episode;
  return {
    id,
    environment,
    task: task as Trajectory["task"],
    seed: seed === undefined ? null : fromInt64(seed, "a seed"),
    group,
    member,
    turns: episode.turnsJson.map((turn) => jsonCodec.decode<Trajectory["turns"][number]>(turn)),
    agents: Object.fromEntries(episode.agents.map((part) => [part.agent, decodeAgent(part)])),
    ...(errorJson === "" ? {} : { error: jsonCodec.decode<NonNullable<Trajectory["error"]>>(errorJson) }),
    ...(infoJson === "" ? {} : { info: jsonCodec.decode<NonNullable<Trajectory["info"]>>(infoJson) }),
    seconds: {
      sampling: episode.samplingSeconds,
      environment: episode.environmentSeconds,
      ...(playersSeconds === undefined ? {} : { players: playersSeconds }),
    },
  };
}

function encodeAgent(agent: string, { role, player, segments, total, shared, end }: AgentTrajectory): wire.Agent {
  return {
    agent,
    role,
    playerJson: jsonCodec.encode(player),
    totalJson: jsonCodec.encode(total),
    sharedJson: toText(shared),
    endJson: jsonCodec.encode(end),
    segments: segments.map(encodeSegment),
  };
}

function decodeAgent({ role, playerJson, totalJson, sharedJson, endJson, segments }: wire.Agent): AgentTrajectory {
  return {
    role,
    player: jsonCodec.decode(playerJson),
    segments: segments.map(decodeSegment),
    total: jsonCodec.decode(totalJson),
    ...(sharedJson === "" ? {} : { shared: jsonCodec.decode<NonNullable<AgentTrajectory["shared"]>>(sharedJson) }),
    end: jsonCodec.decode(endJson),
  };
}

function encodeSegment({ tokens, logprobs, mask, versions, parent }: Segment): wire.Segment {
  return {
    tokens: bytesOf(tokens),
    logprobs: bytesOf(logprobs),
    mask: encodeRuns(mask),
    versions: encodeRuns(versions),
    parent: parent ?? undefined,
  };
}

function decodeSegment({ tokens, logprobs, mask, versions, parent }: wire.Segment): Segment {
  const { length } = tokens;
  if (length % 4 !== 0 || logprobs.length !== length)
    throw invalid(`a segment has ${length} bytes of tokens and ${logprobs.length} of log-probabilities`);
  const count = length / 4;
  assertRuns("mask", mask, count);
  assertRuns("versions", versions, count);
  return {
    tokens: integersOf(tokens),
    logprobs: floatsOf(logprobs),
    mask: decodeRuns(mask, new Uint8Array(count)),
    versions: decodeRuns(versions, new Int32Array(count)),
    parent: parent ?? null,
  };
}

function assertRuns(name: string, runs: Uint8Array, count: number): void {
  let sum = runs.length % RUN_BYTES === 0 ? 0 : Number.NaN;
  if (sum === 0)
    for (const [i, value] of integersOf(runs).entries()) if (i % 2 === 1) sum += value > 0 ? value : Number.NaN;
  if (sum !== count) throw invalid(`the ${name} of a segment of ${count} tokens has runs of ${sum} tokens`);
}

/** Bytes of an episode, without those of its short texts. */
function sizeOf({ turnsJson, agents, infoJson, errorJson }: wire.Episode): number {
  let bytes = Buffer.byteLength(infoJson) + Buffer.byteLength(errorJson);
  for (const turn of turnsJson) bytes += Buffer.byteLength(turn);
  for (const { segments } of agents)
    for (const { tokens, logprobs, mask, versions } of segments)
      bytes += tokens.length + logprobs.length + mask.length + versions.length;
  return bytes;
}

function toText(value: unknown): string {
  return value === undefined ? "" : jsonCodec.encode(value);
}
