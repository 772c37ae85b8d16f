import { type EpisodeCounts, type LearnableEpisode, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit";
import type { EngineUnit, TrajectoryGroup } from "@mrlm/spec";
import type { PpoOptions } from "./options.ts";
import { tokenRewards } from "./token-rewards.ts";

/** One agent's part of one episode. Arrays have one number for each chosen token of all its rows. */
export interface PpoEpisode {
  readonly rows: LearnableEpisode["rows"];
  readonly sampled: Float32Array;
  /** The environment's. */
  readonly rewards: Float64Array;
  /** A limit ended it: what would have come is worth what the critic says. */
  readonly isTruncated: boolean;
}

/** Everything that stays as it is while a batch is learnt from. */
export interface FrozenEpisode extends PpoEpisode {
  readonly old: Float32Array;
  readonly values: Float32Array;
  readonly reference?: Float32Array;
  readonly advantages: Float64Array;
  /** The critic's targets. */
  readonly targets: Float64Array;
  /** Discounted sums of the rewards that came, for measuring the critic. */
  readonly returns: Float64Array;
}

/** The episodes of each group, which share their prompt. */
export function toEpisodes(groups: readonly TrajectoryGroup[], options: PpoOptions): { readonly groups: PpoEpisode[][]; readonly counts: EpisodeCounts } {
  const counts = noEpisodeCounts();
  const episodes = groups.map(({ trajectories }) =>
    trajectories
      .flatMap((trajectory) => learnableEpisodes(trajectory, { dropCut: options.on_length === "mask" }, counts))
      .map((episode): PpoEpisode => {
        const end = episode.trajectory.agents[episode.agent]?.end;
        return { rows: episode.rows, sampled: episode.sampled, rewards: tokenRewards(episode, options), isTruncated: end?.truncated === true && !end.terminated };
      }),
  );
  return { groups: episodes.filter((group) => group.length > 0), counts };
}

export function unitOf(group: readonly PpoEpisode[]): EngineUnit {
  return { sequences: group.flatMap(({ rows }) => rows.map(({ tokens, mask }) => ({ tokens, mask }))) };
}

/** A unit's numbers, cut into those of its episodes. */
export function byEpisode<T extends Float32Array | undefined>(group: readonly PpoEpisode[], values: T): T[] {
  let start = 0;
  return group.map(({ sampled }) => {
    start += sampled.length;
    return values?.subarray(start - sampled.length, start) as T;
  });
}
