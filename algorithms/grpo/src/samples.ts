import { type EpisodeCounts, type LearnableEpisode, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit";
import type { EngineSequence, TrajectoryGroup } from "@mrlm/spec";
import { groupAdvantages, hasSignal } from "./advantages.ts";
import type { GrpoOptions } from "./options.ts";
import { overlongPenalty } from "./overlong.ts";

/** One agent's part of one episode, with its advantage. */
export interface EpisodeSample {
  /** Segments with their masks; a conversation whose template rewrites history has more than one. */
  readonly rows: readonly EngineSequence[];
  /** The sampler's log-probabilities at the masked positions of all rows, in order. */
  readonly sampled: Float32Array;
  readonly advantage: number;
  /** Weight versions between the one that sampled its oldest token and the newest. */
  readonly age: number;
}

/** The episodes of one group; they share their prompt. */
export interface GroupSample {
  readonly episodes: readonly EpisodeSample[];
  /** Whether two of its episodes earned differently. */
  readonly hasSignal: boolean;
  /** Whether an episode of it was too old. */
  readonly isStale: boolean;
}

/**
 * From trajectories to advantages. An episode is compared with those of its own group, told by its id, and, where there are several agents, of the same
 * agent. Failed, unscored, stale and (with `on_length: mask`) cut episodes are left out before the baseline is taken, and counted.
 *
 * @param version the newest weight version
 * @param maxTokens that a turn may have
 */
export function toSamples(groups: readonly TrajectoryGroup[], options: GrpoOptions, version: number, maxTokens: number): { readonly samples: GroupSample[]; readonly counts: EpisodeCounts } {
  const counts = noEpisodeCounts();
  const rules = { dropCut: options.on_length === "mask", oldestVersion: options.max_staleness === undefined ? undefined : version - options.max_staleness };
  const stale: boolean[] = [];
  const peers = groups.map(({ trajectories }, g) => {
    const before = counts.stale;
    const byAgent = Object.groupBy(
      trajectories.flatMap((trajectory) => learnableEpisodes(trajectory, rules, counts)),
      ({ agent }) => agent,
    );
    stale[g] = counts.stale > before;
    return Object.values(byAgent).map((episodes = []) => episodes.map((episode) => ({ episode, reward: episode.reward + lengthPenalty(episode, options, maxTokens) })));
  });
  const rewards = peers.map((agents) => agents.map((episodes) => episodes.map(({ reward }) => reward)));
  const advantages = groupAdvantages(rewards.flat(), options.baseline, options.scale).values();
  const samples = peers.map((agents, g) => ({
    episodes: agents.flatMap((episodes) => {
      const found = advantages.next().value as number[];
      return episodes.map(({ episode: { rows, sampled, oldestVersion } }, i) => ({ rows, sampled, advantage: found[i] as number, age: Math.max(0, version - oldestVersion) }));
    }),
    hasSignal: (rewards[g] as number[][]).some(hasSignal),
    isStale: stale[g] as boolean,
  }));
  return { samples, counts };
}

/** Of the longest turn: it is turns that `sampling.max_tokens` limits. */
function lengthPenalty({ trajectory, agent }: LearnableEpisode, options: GrpoOptions, maxTokens: number): number {
  const turns = trajectory.turns.filter((turn) => turn.agent === agent).map(({ start, end }) => end - start);
  return overlongPenalty(Math.max(0, ...turns), maxTokens, options.overlong_buffer, options.overlong_penalty);
}
