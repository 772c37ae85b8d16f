import type {
  AgentId,
  AgentTrajectory,
  EngineSequence,
  PolicyId,
  Reward,
  RoleId,
  Segment,
  Trajectory,
} from "@mrlm/spec";

/** Episode of one agent, ready for training. */
export interface LearnableEpisode {
  readonly trajectory: Trajectory;
  readonly agent: AgentId;
  readonly role: RoleId;
  /** Segments with sampled tokens. Masks mark the tokens to train on. */
  readonly rows: readonly (EngineSequence & { /** Index among the agent's segments. */ readonly segment: number })[];
  /** Log-probabilities of the sampler at the masked positions of all rows, in order; never empty. */
  readonly sampled: Float32Array;
  /** Sum of the rewards: of the agent's own, or of the shared ones. */
  readonly reward: number;
  /** Weight of the rewards of each agent in `reward`: 1 for its own, unless roles share rewards. */
  readonly weights: Readonly<Record<AgentId, number>>;
  /** Weight version that sampled the oldest token. */
  readonly oldestVersion: number;
}

/** Rules that leave out parts of episodes. */
export interface EpisodeRules {
  /** Policy that learns. Parts that it did not play are left out without a count. */
  readonly policy: PolicyId;
  /** Whether to drop episodes with a truncated answer: the reward of the whole answer is unknown. */
  readonly dropCut: boolean;
  /** Whether to drop episodes with a token of an earlier weight version. */
  readonly oldestVersion?: number | undefined;
}

/** Numbers of episodes and tokens that were left out of a batch, by reason. */
export interface EpisodeCounts {
  failed: number;
  unscored: number;
  stale: number;
  cut: number;
  /** Tokens whose log-probability in the sampler is not finite. */
  nonFiniteTokens: number;
}

export function noEpisodeCounts(): EpisodeCounts {
  return { failed: 0, unscored: 0, stale: 0, cut: 0, nonFiniteTokens: 0 };
}

/**
 * Returns the parts of a trajectory that its policy can learn from: those that this policy played, with a score. Unscored, stale and cut ones are counted; no
 * missing reward becomes a 0.
 */
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
    const learnt = learntReward(record);
    if (!isPlayedBy(record, rules.policy)) return [];
    if (!learnt.scored) {
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
      : [
          {
            trajectory,
            agent,
            role: record.role,
            rows,
            sampled: Float32Array.from(sampled),
            reward: learnt.value,
            weights: record.shared?.weights ?? { [agent]: 1 },
            oldestVersion: oldest,
          },
        ];
  });
}

/** Returns true if the learning policy played this part: not an earlier version of it, nor any other player. */
export function isPlayedBy({ player }: AgentTrajectory, policy: PolicyId): boolean {
  return player.kind === "policy" && player.policy === policy;
}

/** Returns true if a limit of tokens ended a turn of the agent, or its episode. */
export function isCut(trajectory: Trajectory, agent: AgentId): boolean {
  const isTurnCut = trajectory.turns.some((turn) => turn.agent === agent && turn.stopReason === "length");
  return isTurnCut || trajectory.agents[agent]?.end.truncatedBy === "tokens";
}

/** Returns true if a token is learnt: it was sampled, and its log-probability is finite. Other tokens have no importance ratio. */
export function isLearnt({ mask, logprobs }: Segment, token: number): boolean {
  return mask[token] === 1 && Number.isFinite(logprobs[token]);
}

/** Removes tokens from the mask whose log-probability is not finite. No denominator counts them. */
function learnableMask(segment: Segment, counts: EpisodeCounts): Uint8Array {
  return segment.mask.map((chosen, t) => {
    if (chosen === 0 || isLearnt(segment, t)) return chosen;
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

/** Returns the reward that an agent learns from: the shared one where roles share rewards, else the total of the environment. */
export function learntReward({ shared, total }: Pick<AgentTrajectory, "shared" | "total">): Reward {
  return shared ?? total;
}
