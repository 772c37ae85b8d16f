import type { AgentId, AgentTrajectory, EngineSequence, Segment, Trajectory } from "@mrlm/spec";

/** What one agent did in one episode, ready to be learnt from. */
export interface LearnableEpisode {
  readonly trajectory: Trajectory;
  readonly agent: AgentId;
  /** The segments in which the agent chose something; masks mark what to learn from. */
  readonly rows: readonly (EngineSequence & { /** Index among the agent's segments. */ readonly segment: number })[];
  /** The sampler's log-probabilities at the masked positions of all rows, in order; never empty. */
  readonly sampled: Float32Array;
  /** Sum of the rewards. */
  readonly reward: number;
  /** The weight version that sampled its oldest token. */
  readonly oldestVersion: number;
}

/** Which episodes to leave out. */
export interface EpisodeRules {
  /** Drop episodes with a cut answer: the rewards of the whole answers are unknown. */
  readonly dropCut: boolean;
  /** Drop episodes with a token of an earlier weight version. */
  readonly oldestVersion?: number | undefined;
}

/** What was left out of a batch, and why. */
export interface EpisodeCounts {
  failed: number;
  unscored: number;
  stale: number;
  cut: number;
  /** Tokens without a finite log-probability of the sampler. */
  nonFiniteTokens: number;
}

export function noEpisodeCounts(): EpisodeCounts {
  return { failed: 0, unscored: 0, stale: 0, cut: 0, nonFiniteTokens: 0 };
}

/** One trajectory's agents as far as they can be learnt from; what cannot is counted and never becomes a zero. */
export function learnableEpisodes(
  trajectory: Trajectory,
  rules: EpisodeRules,
  counts: EpisodeCounts,
): LearnableEpisode[] {
  if (trajectory.error !== undefined) {
    counts.failed++;
    return [];
  }
  return Object.entries(trajectory.agents).flatMap(([agent, record]) => {
    const { total } = record;
    if (!total.scored) {
      counts.unscored++;
      return [];
    }
    const oldest = oldestVersion(record);
    if (rules.oldestVersion !== undefined && oldest < rules.oldestVersion) {
      counts.stale++;
      return [];
    }
    if (rules.dropCut && isCut(trajectory, agent)) {
      counts.cut++;
      return [];
    }
    const rows = record.segments.flatMap((segment, index) => {
      const mask = learnableMask(segment, counts);
      return mask.includes(1) ? [{ tokens: segment.tokens, mask, segment: index }] : [];
    });
    const sampled = rows.flatMap(({ mask, segment }) =>
      Array.from((record.segments[segment] as Segment).logprobs).filter((_, t) => mask[t] === 1),
    );
    return rows.length === 0
      ? []
      : [{ trajectory, agent, rows, sampled: Float32Array.from(sampled), reward: total.value, oldestVersion: oldest }];
  });
}

/** Whether a limit of tokens ended one of the agent's turns or its part of the episode, rather than its own stop token. */
export function isCut(trajectory: Trajectory, agent: AgentId): boolean {
  const isTurnCut = trajectory.turns.some((turn) => turn.agent === agent && turn.stopReason === "length");
  return isTurnCut || trajectory.agents[agent]?.end.truncatedBy === "tokens";
}

/** A token whose log-probability is not finite cannot be weighed: it leaves the mask, and with it every denominator. */
function learnableMask(segment: Segment, counts: EpisodeCounts): Uint8Array {
  return segment.mask.map((chosen, t) => {
    if (chosen === 0 || Number.isFinite(segment.logprobs[t])) return chosen;
    counts.nonFiniteTokens++;
    return 0;
  });
}

function oldestVersion({ segments }: AgentTrajectory): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const { versions, mask } of segments)
    versions.forEach((version, t) => (oldest = mask[t] === 1 ? Math.min(oldest, version) : oldest));
  return oldest;
}
