import type { AgentId } from "./id.ts";
import type { ModelId } from "./model.ts";
import type { TrajectoryGroup } from "./trajectory.ts";

/** Episodes that the iterations of an algorithm learn from. It is constant in a stage. */
export interface PlayPlan {
  /** Name of the task order and of the random streams of the episodes: `grpo`. Unique among the algorithms of a run. */
  readonly name: string;
  /** Number of groups in a batch. Each has a task of its own. */
  readonly groups: number;
  /** Number of episodes in a group. */
  readonly groupSize: number;
  /** Iterations from one batch to the next: batches are taken in the iterations 1, 1 + every, ...; default 1; 0: in the first only. */
  readonly every?: number;
  /** Largest number of times that refused groups of a batch are replaced by groups of other tasks. Default: none is replaced. */
  readonly refills?: number;
  /** Branches of each episode; default: none. Needs environments whose determinism is `full`, or that have snapshots. */
  readonly branches?: BranchPlan | undefined;
  /** Largest age of a learnable token, in weight versions. Groups with an older one are refused before `accept` is asked. */
  readonly maxStaleness?: number;
  /**
   * Reason for which the gradient is wrong for episodes of earlier weights, and the option that corrects it: "mismatch: none ... set mismatch: truncate". Such a plan is
   * refused where episodes are played ahead of learning. Left out: the algorithm corrects for them, or has no need to.
   */
  readonly uncorrected?: string | undefined;
  /** Whether a group is learnt from. A pure function of its arguments that leaves out the episodes that `learnableEpisodes` leaves out. Default: always. */
  accept?(group: TrajectoryGroup, at: WeightVersion): boolean;
}

/** Branches to play from the states of an episode (see `BranchRecord`). The first turn of an episode has none: all members of its group share that state. */
export interface BranchPlan {
  /** Number of branches from a state. */
  readonly count: number;
  /** Branches start at the turns 0, every, 2 every, ... of each agent that a learning policy plays. */
  readonly every: number;
}

/** A policy and the newest version of its weights. */
export interface WeightVersion {
  readonly policy: ModelId;
  readonly version: number;
}

/** Batch of episodes. It may have fewer accepted groups than planned, or none, where refills are limited. */
export interface EpisodeBatch {
  /** All groups that were played, in order of play. */
  readonly played: readonly TrajectoryGroup[];
  /** Accepted groups, in the same order. Statistics of a batch are computed over them. */
  readonly groups: readonly TrajectoryGroup[];
  /** Number of times that refused groups were replaced. */
  readonly refills: number;
  /** Newest version of the policy's weights. Ages count from it. */
  readonly version: number;
}

/** Source of the batches of one learner. */
export interface EpisodeSource {
  /**
   * Returns the next batch, once in each iteration that `AlgorithmDefinition.plays` names. Rejects with ALGORITHM_INVALID for any other call, and with
   * CANCELLED after a stop.
   */
  take(): Promise<EpisodeBatch>;
}

/** Signal that an algorithm has learnt from the part of one agent in an episode. */
export interface Credit {
  /** Id of the trajectory. */
  readonly trajectory: string;
  readonly agent: AgentId;
  /** Weight of the log-probabilities in the gradient: one number, or one for each learnt token, in order. */
  readonly advantage: number | Float32Array;
  /** Log-probabilities in nats of the learnt tokens under the trainer's weights that played them, where they were computed. */
  readonly logprobs?: Float32Array;
}
