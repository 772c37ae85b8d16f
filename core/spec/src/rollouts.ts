import type { EnvironmentRef } from "./environment-host.ts";
import type { BranchPlan } from "./learning.ts";
import type { ModelId } from "./model.ts";
import type { RoleId, TaskId } from "./id.ts";
import type { Player, PolicyId } from "./player.ts";
import type { RolloutSampling } from "./rollout-sampling.ts";
import type { RewardSharing } from "./reward-sharing.ts";
import type { TrajectoryGroup } from "./trajectory.ts";

/** Request for episodes. */
export interface RolloutRequest {
  readonly environment: EnvironmentRef;
  readonly tasks: readonly TaskId[];
  /** Number of earlier groups of the same task under this label, for each task; default: counted in `tasks`. It is part of group ids. */
  readonly occurrences?: readonly number[];
  /** Number of episodes for each task. */
  readonly groupSize: number;
  /** Members of the group to play, for each task; default: all. An episode is the same whether or not the others are played. */
  readonly members?: readonly (readonly number[])[];
  /** Yields each episode as a group of its own, in the order of completion in every mode. */
  readonly isSingly?: boolean;
  /** Player of each role, or the model that plays every role as a policy. */
  readonly players: ModelId | Readonly<Record<RoleId, Player>>;
  /** `shuffle`: the players are assigned to the roles at random, anew in each group. Default `fixed`. */
  readonly sides?: "fixed" | "shuffle";
  /** Default: each agent learns from its own total. */
  readonly rewardSharing?: RewardSharing;
  /** Branches of the episodes, from turns of agents that one of these policies plays; default: none. They take the places of concurrency of the episodes. */
  readonly branches?: BranchPlan & { readonly policies: readonly PolicyId[] };
  readonly sampling: RolloutSampling;
  /** Sampling of the policies that have their own. */
  readonly policySampling?: Readonly<Record<PolicyId, RolloutSampling>>;
  /** Name of the random streams of these episodes. In deterministic mode the same label, seed and weights give the same episodes. */
  readonly label: string;
  /** Limit of turns in addition to that of the environment; the smaller one applies. */
  readonly maxTurns?: number;
  /** Limit of tokens in a segment, including its prompt. The host truncates an episode that would exceed it. */
  readonly maxSequenceTokens?: number;
  /** Version of each policy with which the episodes begin, for their record; default: the newest that is published. */
  readonly versions?: Readonly<Record<PolicyId, number>>;
  readonly signal?: AbortSignal;
}

/** Plays episodes. */
export interface Rollouts {
  /** Yields groups in the order of `tasks` in deterministic mode, else in the order of their completion. A group contains its failed episodes with their errors. A rejection comes after the other complete groups. */
  collect(request: RolloutRequest): AsyncIterable<TrajectoryGroup>;
}
