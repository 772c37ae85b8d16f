import { gradesOf, judgementsOf } from "@mrlm/kit/learning";
import { RunDirectory, storePlaceOf } from "@mrlm/runtime";
import { type AgentId, MrlmError, type Trajectory } from "@mrlm/spec";
import type { GradeRecord, JudgementRecord } from "@mrlm/spec/host";
import { type CallNode, callsOf } from "./episode-calls.ts";
import {
  type EpisodeList,
  type EpisodePage,
  EpisodeReader,
  isStore,
  type NumberedEpisode,
  type TaskRewards,
} from "@mrlm/store";

/** Segment of an agent's tokens, without the tokens. */
export interface SegmentShape {
  readonly length: number;
  readonly parent: number | null;
}

/** Episode without its tokens. */
export interface EpisodeDetail extends Omit<NumberedEpisode, "trajectory"> {
  readonly episode: Omit<Trajectory, "agents"> & {
    readonly agents: Readonly<
      Record<AgentId, Omit<Trajectory["agents"][AgentId], "segments"> & { readonly segments: readonly SegmentShape[] }>
    >;
  };
  /** Judgements of judges and grades of scorers, of all steps. */
  readonly judgements: readonly (JudgementRecord | GradeRecord)[];
  /** Advantage of each agent by learner; the mean where each token has one. */
  readonly credits: readonly { readonly learner: string; readonly agent: AgentId; readonly advantage: number }[];
  /** Calls of an episode that is a run of a program, in order of time. */
  readonly calls?: readonly CallNode[];
  /** Parts of the episodes of the same group. */
  readonly group: EpisodeList;
}

/** Largest group that is shown whole. */
const GROUP = 200;
/** Tasks that are listed. */
const TASKS = 500;

/** Lists parts of episodes. Throws QUERY_INVALID for an unknown column. */
export function listedEpisodes(run: string, page: EpisodePage): EpisodeList {
  return withEpisodes(run, (reader) => reader.list(page)) ?? NOTHING;
}

/** Returns the values of each column that a person chooses from, the most frequent first. */
export function episodeChoices(run: string): Readonly<Record<string, readonly string[]>> {
  return withEpisodes(run, (reader) => reader.choices()) ?? {};
}

/** Returns the tasks of training with their rewards over time, those with most groups first. */
export function taskRewards(run: string): readonly TaskRewards[] {
  return withEpisodes(run, (reader) => reader.taskRewards(TASKS)) ?? [];
}

/** Reads the episode of a number. Throws EPISODE_NOT_FOUND. */
export function episodeDetail(run: string, key: number): EpisodeDetail {
  const detail = withEpisodes(run, (reader): EpisodeDetail => {
    const { trajectory, ...of } = storedEpisode(reader, run, key);
    const { agents, ...episode } = trajectory;
    const within = { group_key: [of.groupKey, of.groupKey] } as const;
    const group = reader.list({ filter: { within }, sort: "member", offset: 0, limit: GROUP });
    const at = (name: string): number => group.columns.indexOf(name);
    const row = group.rows.find((each) => each[at("episode_key")] === key);
    const credits = reader.credits(key);
    const calls = callsOf(trajectory, credits, String(row?.[at("state")] ?? "ready"));
    return {
      ...of,
      episode: {
        ...episode,
        agents: Object.fromEntries(
          Object.entries(agents).map(([agent, { segments, ...part }]) => [
            agent,
            { ...part, segments: segments.map(({ tokens, parent }) => ({ length: tokens.length, parent })) },
          ]),
        ),
      },
      judgements: [...judgementsOf(trajectory), ...gradesOf(trajectory)],
      credits: credits.map(({ learner, agent, advantage }) => ({
        learner,
        agent,
        advantage: typeof advantage === "number" ? advantage : meanOf(advantage),
      })),
      ...(calls !== undefined && { calls }),
      group,
    };
  });
  if (detail === undefined) throw notFound(run, key);
  return detail;
}

/** Returns an episode of an open store. Throws EPISODE_NOT_FOUND. */
export function storedEpisode(reader: EpisodeReader, run: string, key: number): NumberedEpisode {
  const found = reader.episode(key);
  if (found === undefined) throw notFound(run, key);
  return found;
}

/** Opens the store of a run, or the store that the path names, for a call; `undefined` for a run without one. */
export function withEpisodes<T>(run: string, use: (reader: EpisodeReader) => T): T | undefined {
  const reader = isStore(run) ? new EpisodeReader(storePlaceOf(run)) : RunDirectory.open(run).readEpisodes();
  try {
    return reader && use(reader);
  } finally {
    reader?.close();
  }
}

export function notFound(run: string, key: number): MrlmError {
  return new MrlmError("EPISODE_NOT_FOUND", `The run ${run} has no episode ${key}.`);
}

const NOTHING: EpisodeList = {
  columns: [],
  rows: [],
  total: 0,
  scored: 0,
  meanReward: null,
  histogram: { from: 0, to: 0, counts: [] },
};

function meanOf(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
