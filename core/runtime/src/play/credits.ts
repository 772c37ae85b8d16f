import { isLearnt, isPlayedBy, learntReward } from "@mrlm/kit/learning";
import {
  type AgentId,
  type AgentTrajectory,
  type Credit,
  type ModelId,
  MrlmError,
  type TrajectoryGroup,
} from "@mrlm/spec";

/** Learnable parts of episodes: the number of learnt tokens of each. */
export type LearnableParts = ReadonlyMap<string, number>;

/** Returns the parts of these groups that a policy may learn from, those of `learnableEpisodes`, without copies of their tokens. */
export function learnableParts(groups: readonly TrajectoryGroup[], policy: ModelId): LearnableParts {
  const parts = new Map<string, number>();
  for (const { id, agents, error } of groups.flatMap(({ trajectories }) => trajectories)) {
    if (error !== undefined) continue;
    for (const [agent, part] of Object.entries(agents)) {
      const tokens = learntReward(part).scored && isPlayedBy(part, policy) ? learntTokens(part) : 0;
      if (tokens > 0) parts.set(keyOf(id, agent), tokens);
    }
  }
  return parts;
}

function learntTokens({ segments }: AgentTrajectory): number {
  let count = 0;
  for (const segment of segments) for (let t = 0; t < segment.mask.length; t++) if (isLearnt(segment, t)) count++;
  return count;
}

/**
 * Throws ALGORITHM_INVALID for a credit of another part than these, for two credits of one part, and for an array that has not one number for each
 * learnt token.
 * @param algorithm id for the message
 */
export function assertCredits(credits: readonly Credit[], parts: LearnableParts, algorithm: string): void {
  const seen = new Set<string>();
  for (const { trajectory, agent, advantage, logprobs } of credits) {
    const key = keyOf(trajectory, agent);
    const count = parts.get(key);
    const refuse = (fault: string): never => {
      throw new MrlmError(
        "ALGORITHM_INVALID",
        `${algorithm} reports a credit of agent "${agent}" in episode ${trajectory}, ${fault}.`,
      );
    };
    if (count === undefined) refuse("which is no learnable part of the groups that it took last");
    if (seen.has(key)) refuse("and a second one in the same report");
    seen.add(key);
    for (const values of [advantage, logprobs])
      if (typeof values === "object" && values.length !== count)
        refuse(`with ${values.length} numbers for ${count} learnt tokens`);
  }
}

function keyOf(trajectory: string, agent: AgentId): string {
  return JSON.stringify([trajectory, agent]);
}
