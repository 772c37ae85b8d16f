import {
  type AgentId,
  type Credit,
  type EngineUnit,
  type EpisodeCounts,
  isCut,
  type LearnableEpisode,
  learnableEpisodes,
  noEpisodeCounts,
  type PolicyId,
  type TokenSpan,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import type { PpoOptions } from "./options.ts";

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

/**
 * Assigns the rewards of an episode to its chosen tokens. The reward of a step is at the last token of the agent's turn before the step, and so
 * never at an observed token. Where roles share rewards, it is the weighted sum of the agents' rewards. Rewards during turns of other agents are at the agent's own latest token, rewards before its first turn at its first token.
 */
function tokenRewards(
  episode: LearnableEpisode,
  options: Pick<PpoOptions, "reward_clip" | "cut_penalty">,
): Float64Array {
  const { trajectory, agent, sampled, weights } = episode;
  const limit = options.reward_clip ?? Number.POSITIVE_INFINITY;
  const rewards = new Float64Array(sampled.length);
  let at = 0;
  for (const turn of trajectory.turns) {
    if (turn.agent === agent && turn.tokens !== undefined) at = Math.max(0, tokensBefore(episode, turn.tokens) - 1);
    let earned = 0;
    for (const [earner, weight] of Object.entries(weights)) {
      const reward = turn.rewards[earner];
      if (reward?.scored === true) earned += weight * reward.value;
    }
    rewards[at] = (rewards[at] as number) + Math.max(-limit, Math.min(limit, earned));
  }
  if (options.cut_penalty > 0 && isCut(trajectory, agent))
    rewards[rewards.length - 1] = (rewards.at(-1) as number) - options.cut_penalty;
  return rewards;
}

/** Returns the number of chosen tokens before the end of a span. */
function tokensBefore({ rows }: LearnableEpisode, { segment, end }: TokenSpan): number {
  let count = 0;
  for (const row of rows) {
    if (row.segment > segment) break;
    const mask = row.segment === segment ? row.mask.subarray(0, end) : row.mask;
    count = mask.reduce((total, chosen) => total + chosen, count);
  }
  return count;
}
