import type { TaskId } from "./id.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Credit } from "./learning.ts";
import type { ModelId } from "./model.ts";
import type { TrajectoryGroup } from "./trajectory.ts";

/** Reason why episodes are played. */
export type EpisodePurpose = "train" | "goal" | "eval" | "collect";

/** A learner's name in a store: `STAGE/POLICY`, with the index of the stage from 0; for example `0/policy`. */
export type LearnerId = string;

/** A group that a cohort plays: `size` episodes of one task and one seed. */
export interface PlannedGroup {
  readonly id: string;
  readonly task: TaskId;
  readonly seed: number | null;
  readonly size: number;
}

/**
 * Unit of lease: the groups of one take, refill and environment, or a part of them. Its members share sampling waves, so that its
 * episodes depend on nothing outside it.
 */
export interface Cohort {
  /** Unique among the cohorts of a store that are not abandoned. */
  readonly id: string;
  /** Name of the stage, as in metrics.jsonl. */
  readonly stage: string;
  readonly learner: LearnerId;
  /** Number of the learner's take, from 1; 0: of whichever take comes when it was played. */
  readonly step: number;
  /** 0 for the first groups of a take, r for its r-th replacement of refused groups. */
  readonly refill: number;
  /** Index of the environment in the configuration, then of the part of its groups: with step 0, a number that rises in the order of opening. */
  readonly place: readonly [environment: number, part: number];
  readonly environment: string;
  /** Step of the run that learns from it first. */
  readonly runStep: number;
  /** Weight version of each policy that plays. */
  readonly versions: Readonly<Record<ModelId, number>>;
  /** Checksum of the weights that play; `null` where the engine has none. */
  readonly checksum: string | null;
  readonly groups: readonly PlannedGroup[];
}

/** A cohort assigned to a worker until a time. */
export interface Lease {
  readonly cohort: Cohort;
  readonly worker: string;
  /** Counts the leases of the cohort, from 1. A commit under an earlier attempt than the last is late. */
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Part of a batch: the take of a learner, and its refill. */
export interface TakePosition {
  readonly step: number;
  readonly refill: number;
}

/** Selection of the groups of a take, as data, so that a repeated take is compared with the logged one. */
export interface TakeRule {
  /**
   * `cohorts`: the groups of the cohorts that were opened for this position. `opened`: the first groups of the learner by the part of their cohorts, once
   * all of them are committed. `oldest`: the first committed groups of the learner.
   */
  readonly from: "cohorts" | "opened" | "oldest";
  /** Checksum of the weights that play; a batch, or a cohort of this position, that other weights played is not returned. */
  readonly checksum: string | null;
}

/** Facts of a take that the log keeps beside its groups. */
export interface TakeRecord {
  /** Step of the run that learns from the batch first. */
  readonly runStep: number;
  /** Iteration of the stage that learns from it first, from 1. */
  readonly iteration: number;
  /** Weight version from which the ages of its tokens count. */
  readonly version: number;
  /** Position of the task order after the take. */
  readonly tasks: JsonValue;
}

/** Groups of a batch, in order of play. */
export interface TakenBatch {
  readonly groups: readonly TrajectoryGroup[];
  /** Ids of groups that `refuse` has marked. */
  readonly refused: readonly string[];
  /** Whether the batch was in the log before this call. */
  readonly isReplayed: boolean;
  /** Record of the call that logged it. */
  readonly record: TakeRecord;
}

/** Groups that were played outside the takes of a learner. */
export interface PlayedRecord {
  /** Unique in the store: a repeated call with the same id adds nothing. Left out: each call adds its groups. */
  readonly id?: string;
  readonly purpose: Exclude<EpisodePurpose, "train">;
  /** Whether groups that the store has under this id are marked as abandoned, and these take their place. */
  readonly isReplacement?: boolean;
  /** Name under which the episodes are shown, for example `evaluation/greedy`. */
  readonly stage: string;
  /** Step of the run whose weights played. */
  readonly runStep: number;
  /** Index of the environment in the configuration. */
  readonly place: number;
  readonly environment: string;
  readonly versions: Readonly<Record<ModelId, number>>;
  readonly checksum: string | null;
  readonly groups: readonly TrajectoryGroup[];
}

/** Published weights of a policy. */
export interface WeightsRow {
  readonly policy: ModelId;
  readonly version: number;
  /** Step of the run. */
  readonly step: number;
  readonly checksum: string | null;
  /** Directory or address where a sampler finds them. */
  readonly location?: string;
}

/** Groups of a learner that no batch has. */
export interface BufferCounts {
  readonly open: number;
  readonly leased: number;
  /** Committed. */
  readonly ready: number;
}

/** A process that takes part in a run. */
export interface Member {
  /** Unique among the members of a store. */
  readonly id: string;
  readonly kind: "training" | "engine" | "sampler" | "rollouts" | "environments" | "store";
  readonly address?: string;
  readonly capabilities: JsonObject;
  /** First `join` under this id. Milliseconds since 1970 by the store's clock. */
  readonly startedAt: number;
  /** Last `join`. Milliseconds since 1970 by the store's clock. */
  readonly heartbeatAt: number;
}

/** Age of the last heartbeat from which a member counts as lost, in milliseconds. */
export const MEMBER_LOST_MS = 30_000;

/** A change in a store, for `watch`. */
export interface StoreEvent {
  /** Rises by one with each event. */
  readonly number: number;
  readonly kind:
    | "opened"
    | "leased"
    | "committed"
    | "late"
    | "taken"
    | "replayed"
    | "refused"
    | "settled"
    | "abandoned"
    | "recorded"
    | "weights";
  /** Id of the cohort, learner or policy; stage of recorded groups. */
  readonly subject: string;
  readonly step: number | null;
}

/**
 * Buffer and record of a run's episodes. A batch is logged durably before it is learnt from, so that a run that was killed takes the
 * same groups again, and none twice. Operations run in the order of their calls. Each is atomic, except where its description states several transactions.
 * They reject with STORE_FAILED when the store cannot be written, and with STORE_CONFLICT when a repeated operation has other arguments
 * than before.
 */
export interface EpisodeStore {
  /** Adds a cohort. Idempotent by id. */
  open(cohort: Cohort): Promise<void>;
  /** Leases up to `limit` cohorts that are open, or whose lease has expired, in order of opening. */
  lease(worker: string, limit: number, ttlMs: number): Promise<readonly Lease[]>;
  /** Extends leases; returns the ids of cohorts that the worker has lost. */
  renew(leases: readonly Lease[], ttlMs: number): Promise<readonly string[]>;
  /**
   * Adds episodes of a leased cohort, in several transactions where they are many. The last call makes the cohort visible, all of it at
   * once. An episode that the attempt has committed before is not added again. Idempotent: the repeated last call is accepted and changes nothing. `late`:
   * another worker has leased the cohort since, or it was committed by another one or abandoned; it does not change.
   * @param options `take`: arguments of {@link take}, which the last call makes too. It returns the batch if no other cohort of it is missing
   */
  commit(
    lease: Lease,
    groups: readonly TrajectoryGroup[],
    options: { readonly isLast: boolean; readonly take?: Parameters<EpisodeStore["take"]> },
  ): Promise<"accepted" | "late" | TakenBatch>;
  /**
   * Logs and returns a learner's groups; with the same arguments again, the logged ones.
   * `unready`: fewer than `count` groups are visible; nothing is logged. `outdated`: the logged batch, or the cohorts of this position,
   * were played by weights of another checksum than the rule's; `abandon` the step, and play it anew.
   * @param appliedBefore batches of the learner before this step are then applied; default: before `at.step`
   */
  take(
    learner: LearnerId,
    at: TakePosition,
    count: number,
    rule: TakeRule,
    record: TakeRecord,
    appliedBefore?: number,
  ): Promise<TakenBatch | "unready" | "outdated">;
  /** Marks groups of a batch as refused. Idempotent. */
  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): Promise<void>;
  /**
   * Records credits of a batch, in several transactions where they are many; later ones replace earlier ones. Idempotent.
   * `isApplied`: nothing more is learnt from the batch.
   */
  settle(
    learner: LearnerId,
    step: number,
    learnt: { readonly credits: readonly Credit[]; readonly isApplied: boolean },
  ): Promise<void>;
  /** Marks the batches of a learner from a step on, and their cohorts, as abandoned: they are played anew. So are its cohorts of no step that no batch has. */
  abandon(learner: LearnerId, fromStep: number): Promise<void>;
  /** Counts the groups of a learner that wait to be played, are played, and are committed and in no batch. */
  buffer(learner: LearnerId): Promise<BufferCounts>;
  /** Adds groups of an evaluation or a collection, which no learner takes. */
  record(played: PlayedRecord): Promise<void>;
  announce(weights: WeightsRow): Promise<void>;
  newest(policy: ModelId): Promise<WeightsRow | undefined>;
  /** Adds rows of metrics.jsonl, which stays their source, so that queries find them beside the episodes. A row that the store has is not added again. */
  mirror(rows: readonly JsonObject[]): Promise<void>;
  /**
   * Deletes tokens and log-probabilities of episodes whose run step is below `beforeRunStep`, in several transactions; those of collections
   * stay. Conversations, rewards and the log of batches stay. A batch without its tokens cannot be taken again: DATA_INVALID.
   */
  prune(beforeRunStep: number): Promise<void>;
  /** Adds a member, or renews its heartbeat, address and capabilities. Called every few seconds; it adds no event. */
  join(member: Omit<Member, "startedAt" | "heartbeatAt">): Promise<void>;
  /** Removes a member. Idempotent. */
  leave(id: string): Promise<void>;
  /** Members in order of their start, those without a heartbeat included. */
  members(): Promise<readonly Member[]>;
  /** Events after a number, then new ones as they come, until the signal is aborted. */
  watch(after: number, signal: AbortSignal): AsyncIterable<StoreEvent>;
  /** Waits until everything is on the disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
