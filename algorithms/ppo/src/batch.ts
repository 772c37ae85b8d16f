import {
  type AgentId,
  type Credit,
  type EngineUnit,
  type EpisodeCounts,
  type LearnableEpisode,
  learnableEpisodes,
  noEpisodeCounts,
  type PolicyId,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import type { PpoOptions } from "./options.ts";
import { tokenRewards } from "./token-rewards.ts";

/** One agent's part of one episode. Arrays have one number for each chosen token of all its rows. */
export interface PpoEpisode extends Pick<Credit, "trajectory" | "agent"> {
  readonly rows: LearnableEpisode["rows"];
  readonly sampled: Float32Array;
  /** Rewards of the environment. */
  readonly rewards: Float64Array;
  /** Whether a limit cut off its rewards. Then the critic's value of the final state stands for the rewards that would follow. */
  readonly isTruncated: boolean;
}

/** Episodes that share their prompt: one unit of the engine. */
export type PpoGroup = readonly PpoEpisode[];

/** Selects the episodes of each group to train on. */
export function toEpisodes(
  groups: readonly TrajectoryGroup[],
  options: PpoOptions,
  policy: PolicyId,
): { readonly groups: PpoGroup[]; readonly counts: EpisodeCounts } {
  const counts = noEpisodeCounts();
  const rules = { policy, dropCut: options.on_length === "mask" };
  const episodes = groups.map(({ trajectories }) =>
    trajectories
      .flatMap((trajectory) => learnableEpisodes(trajectory, rules, counts))
      .map((episode): PpoEpisode => ({
        trajectory: episode.trajectory.id,
        agent: episode.agent,
        rows: episode.rows,
        sampled: episode.sampled,
        rewards: tokenRewards(episode, options),
        isTruncated: isTruncated(episode),
      })),
  );
  return { groups: episodes.filter((group) => group.length > 0), counts };
}

/**
 * Returns true if a limit cut off rewards that the agent learns from: its own, or those of agents that share theirs. An agent that ran out of context has all
 * of its rewards if the others played the episode to its end.
 */
function isTruncated({ trajectory: { agents, turns }, weights }: LearnableEpisode): boolean {
  const isExhausted = (id: AgentId): boolean =>
    turns.some((turn) => turn.agent === id && turn.stopReason === "exhausted");
  const isCut = (id: AgentId): boolean => agents[id]?.end.truncated === true && !agents[id].end.terminated;
  const lacksRewards = (id: AgentId): boolean =>
    isCut(id) && (!isExhausted(id) || Object.keys(agents).some((other) => !isExhausted(other) && isCut(other)));
  return Object.keys(weights).some(lacksRewards);
}

export function unitOf(group: PpoGroup): EngineUnit {
  return { sequences: group.flatMap(({ rows }) => rows.map(({ tokens, mask }) => ({ tokens, mask }))) };
}

/** Returns the chosen tokens of these groups. */
export function tokensOf(groups: readonly PpoGroup[]): number {
  return groups.flat().reduce((sum, { sampled }) => sum + sampled.length, 0);
}

/** Splits the numbers of a unit into those of its episodes. */
export function byEpisode(group: PpoGroup, values: Float32Array): Float32Array[] {
  let start = 0;
  return group.map(({ sampled }) => {
    start += sampled.length;
    return values.subarray(start - sampled.length, start);
  });
}
