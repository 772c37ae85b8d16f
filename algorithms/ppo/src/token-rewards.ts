import { isCut, type LearnableEpisode, type TokenSpan } from "@mrlm/kit/learning";
import type { PpoOptions } from "./options.ts";

/**
 * Assigns the rewards of an episode to its chosen tokens. The reward of a step is at the last token of the agent's turn before the step, and so
 * never at an observed token. Where roles share rewards, it is the weighted sum of the agents' rewards. Rewards during turns of other agents are at the agent's own latest token, rewards before its first turn at its first token.
 */
export function tokenRewards(
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
