import {
  type AlgorithmContext,
  type Credit,
  type EngineSequence,
  type EpisodeCounts,
  type LearnableEpisode,
  learnableEpisodes,
  type Mean,
  noEpisodeCounts,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import { branchAdvantages } from "./branch-advantages.ts";
import { dividedByDeviation, groupAdvantages, hasSignal, memberMeans } from "./advantages.ts";
import { type EpisodeTurn, episodeTurns } from "./episode-turns.ts";
import type { GrpoSettings } from "./options.ts";
import type { RoleAverages } from "./role-averages.ts";
import { tokenAdvantages, turnAdvantages } from "./turn-advantages.ts";

/** One agent's part of one episode, with its advantage. */
export interface EpisodeSample extends Pick<Credit, "trajectory" | "agent"> {
  /** Segments with their masks. A conversation whose template rewrites history has several. */
  readonly rows: readonly EngineSequence[];
  /** The sampler's log-probabilities at the masked positions of all rows, in order. */
  readonly sampled: Float32Array;
  /** One number for the episode; with credit by turn one for each learnt token. */
  readonly advantage: number | Float64Array;
  /** Number of weight versions between its oldest token and the newest weights. */
  readonly age: number;
}

/** Episodes of one group. They share their prompt. */
export interface GroupSample {
  readonly episodes: readonly EpisodeSample[];
}

/** A group before its advantages are known. */
export interface RewardedGroup {
  /** Rewards are compared between episodes of one role. */
  readonly roles: readonly RewardedRole[];
  /** Whether an advantage is not 0: the rewards of two episodes of one role differ, or with credit by turn their returns; with `baseline: role_average` or a teacher, whether there is an episode. */
  readonly hasSignal: boolean;
}

/** Episodes of one role of a group. */
export interface RewardedRole {
  /** Environment and role. */
  readonly key: string;
  readonly episodes: readonly RewardedEpisode[];
  /** Number of turns whose baseline is of episodes in the same state. */
  readonly inState?: number;
}

interface RewardedEpisode {
  readonly episode: LearnableEpisode;
  /** Reward that the agent learns from, minus the length penalty. */
  readonly reward: number;
  /** Turns with their advantages before `scale`, with credit by turn. */
  readonly turns?: readonly EpisodeTurn[];
  readonly advantages?: readonly number[];
}

/**
 * Selects the episodes of each group to train on. Leaves out and counts failed, unscored, stale and (with `on_length: mask`) cut episodes, before
 * any baseline is computed.
 *
 * @param version newest weight version
 */
export function rewardedGroups(
  groups: readonly TrajectoryGroup[],
  options: GrpoSettings,
  version: number,
  { policy, sampling: { maxTokens } }: Pick<AlgorithmContext, "policy" | "sampling">,
): { readonly rewarded: RewardedGroup[]; readonly counts: EpisodeCounts } {
  const counts = noEpisodeCounts();
  const rules = {
    policy,
    dropCut: options.on_length === "mask",
    oldestVersion: options.max_staleness === undefined ? undefined : version - options.max_staleness,
  };
  const rewarded = groups.map(({ trajectories }): RewardedGroup => {
    const episodes = trajectories.flatMap((trajectory) => learnableEpisodes(trajectory, rules, counts));
    const roles = Object.entries(Object.groupBy(episodes, ({ role }) => role)).map(([role, own = []]) => {
      const key = `${own[0]?.trajectory.environment}/${role}`;
      const penalised = own.map((episode) => {
        const penalty = lengthPenalty(episode, options, maxTokens);
        return { episode, reward: episode.reward + penalty, penalty };
      });
      return options.credit === "episode" ? { key, episodes: penalised } : { key, ...byTurn(penalised, options) };
    });
    return {
      roles,
      hasSignal: roles.some(
        (own) => options.baseline === "role_average" || options.distill_coefficient > 0 || roleHasSignal(own),
      ),
    };
  });
  return { rewarded, counts };
}

/**
 * Computes advantages from rewards. The baseline of an episode is taken over its own group and role. `scale: batch_std` divides by a number of all
 * given groups, which must therefore be the whole batch.
 *
 * @param version newest weight version
 * @param averages baselines with `baseline: role_average`
 */
export function toSamples(
  groups: readonly RewardedGroup[],
  options: GrpoSettings,
  version: number,
  averages: Pick<RoleAverages, "of">,
): GroupSample[] {
  const compared = groups.flatMap(({ roles }) => roles);
  const advantages = (
    options.credit === "episode"
      ? groupAdvantages(
          compared.map(rewardsOf),
          options.baseline,
          options.scale,
          compared.map(({ key }) => averages.of(key)),
          compared.map(membersOf),
        )
      : turnedAdvantages(compared, options.scale)
  ).values();
  return groups.map(({ roles }) => ({
    episodes: roles.flatMap(({ episodes }) => {
      const found = advantages.next().value as (number | Float64Array)[];
      return episodes.map(({ episode: { trajectory, agent, rows, sampled, oldestVersion } }, i) => ({
        trajectory: trajectory.id,
        agent,
        rows,
        sampled,
        advantage: found[i] as number | Float64Array,
        age: Math.max(0, version - oldestVersion),
      }));
    }),
  }));
}

/** Adds turns and their advantages to the episodes of a role of one group. */
function byTurn(
  episodes: readonly (RewardedEpisode & { readonly penalty: number })[],
  { credit, baseline, gamma }: GrpoSettings,
): Omit<RewardedRole, "key"> {
  const turned = episodes.map(({ episode, penalty }) => ({
    member: episode.trajectory,
    turns: episodeTurns(episode, gamma, penalty),
  }));
  const { advantages, inState } =
    credit === "branch"
      ? { advantages: branchAdvantages(turned), inState: 0 }
      : turnAdvantages(turned, credit === "state", baseline === "group_mean");
  return {
    episodes: episodes.map((each, i) => ({
      ...each,
      turns: turned[i]?.turns as EpisodeTurn[],
      advantages: advantages[i] as number[],
    })),
    inState,
  };
}

/** Returns the advantages of all tokens by role and episode. `batch_std` is the deviation over turns. */
function turnedAdvantages(roles: readonly RewardedRole[], scale: GrpoSettings["scale"]): Float64Array[][] {
  const centred = roles.flatMap(({ episodes }) => episodes.map(({ advantages = [] }) => advantages));
  const scaled = (scale === "batch_std" ? dividedByDeviation(centred) : centred).values();
  return roles.map(({ episodes }) =>
    episodes.map(({ turns = [], episode }) =>
      tokenAdvantages(turns, scaled.next().value as number[], episode.sampled.length),
    ),
  );
}

function roleHasSignal(role: RewardedRole): boolean {
  return role.inState === undefined
    ? hasSignal(rewardsOf(role))
    : role.episodes.some(({ advantages = [] }) => advantages.some((advantage) => advantage !== 0));
}

function rewardsOf({ episodes }: RewardedRole): number[] {
  return episodes.map(({ reward }) => reward);
}

function membersOf({ episodes }: RewardedRole): unknown[] {
  return episodes.map(({ episode }) => episode.trajectory);
}

/** Returns the mean reward of each episode. */
export function memberRewards(role: RewardedRole): number[] {
  return [...memberMeans(rewardsOf(role), membersOf(role)).values()];
}

/** Returns the share of turns whose baseline is of episodes in the same state. */
export function turnsInState(groups: readonly RewardedGroup[]): Mean {
  const roles = groups.flatMap(({ roles }) => roles);
  const turns = roles.flatMap(({ episodes }) => episodes.map(({ turns = [] }) => turns.length));
  return {
    sum: roles.reduce((sum, { inState = 0 }) => sum + inState, 0),
    count: turns.reduce((sum, each) => sum + each, 0),
  };
}

/** Returns the length penalty of the longest turn, because `sampling.max_tokens` limits turns. */
function lengthPenalty({ trajectory, agent }: LearnableEpisode, options: GrpoSettings, maxTokens: number): number {
  const turns = trajectory.turns.flatMap((turn) =>
    turn.agent === agent && turn.tokens !== undefined ? turn.tokens.end - turn.tokens.start : [],
  );
  return overlongPenalty(Math.max(0, ...turns), maxTokens, options.overlong_buffer, options.overlong_penalty);
}

/**
 * Returns the length penalty of DAPO (arXiv 2503.14476, eq. 13), added to the reward. It is 0 up to `limit - buffer` tokens and falls linearly to
 * -penalty at the limit.
 */
export function overlongPenalty(tokens: number, limit: number, buffer: number, penalty: number): number {
  if (buffer === 0) return 0;
  const over = Math.max(0, tokens - (limit - buffer));
  return -penalty * Math.min(1, over / buffer);
}
