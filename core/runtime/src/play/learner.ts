import {
  type Cohort,
  type Credit,
  type EpisodeBatch,
  type EpisodeSource,
  type EpisodeStore,
  type JsonValue,
  type LearnerId,
  MrlmError,
  type PlannedGroup,
  type PlayPlan,
  type PolicyId,
  type RolloutRequest,
  type Rollouts,
  type RolloutSampling,
  type TakePosition,
  type TrajectoryGroup,
} from "@mrlm/spec";
import { BatchLog } from "./batch-log.ts";
import { cohortsOf } from "./cohorts.ts";
import { assertCredits, type LearnableParts, learnableParts } from "./credits.ts";
import { groupLabel } from "./labels.ts";
import { playSeconds } from "./play-seconds.ts";
import type { PlayedEnvironment } from "./played-environment.ts";
import { isStale } from "./staleness.ts";
import { type TaskDraw, type TaskOrder, taskOrder, type TaskPosition } from "./task-order.ts";

/** Progress of a learner as of the last batch that it took. */
export interface LearnerState {
  readonly takes: number;
  /** `null` for a stage that plays nothing. */
  readonly tasks: TaskPosition | null;
}

/** Plays groups whose ids are known beforehand. */
export interface GroupPlayer extends Rollouts {
  /** Returns the groups that `collect` plays for a request, in their order. */
  groupsOf(request: RolloutRequest): Promise<readonly PlannedGroup[]>;
}

/** Weights that play the episodes of a take. */
export interface PlayingWeights {
  /** Version of each policy of the run. */
  readonly versions: Readonly<Record<PolicyId, number>>;
  readonly checksum: string;
}

/** Parts of a learner. */
export interface LearnerParts {
  /** Algorithm of each policy that learns from the play, by its id, for errors. At least one. */
  readonly algorithms: Readonly<Record<PolicyId, string>>;
  /** `undefined` where the algorithms play nothing. That of several learners accepts every group. */
  readonly plan: PlayPlan | undefined;
  /** Index of the stage from 0. */
  readonly stage: number;
  /** Name of the stage, as in metrics.jsonl. */
  readonly stageName: string;
  readonly sampling: RolloutSampling;
  /** Sampling of the policies that have their own. */
  readonly policySampling?: RolloutRequest["policySampling"];
  readonly environments: readonly PlayedEnvironment[];
  /** Seed of the stage, for the order of tasks. */
  readonly seed: number;
  /** Parts into which the groups of an environment are divided. */
  readonly cohorts: number;
  readonly rollouts: GroupPlayer;
  readonly store: EpisodeStore;
  /** Number of the iteration in progress, from 1, in the stage and in the run. */
  progress(): { readonly iteration: number; readonly runStep: number };
  /** Publishes the weights of all policies that have changed. */
  publish(): Promise<PlayingWeights>;
  readonly signal: AbortSignal;
}

/** Batch with the wall-clock seconds of its take. */
export interface TimedBatch extends EpisodeBatch {
  readonly seconds: {
    readonly sampling: number;
    readonly environment: number;
    readonly publish: number;
    readonly waited: number;
  };
}

/** Batch as it was played, for all learners. */
interface PlayedBatch extends EpisodeBatch {
  /** Present weights; a logged batch may have been played by equal ones of another version. */
  readonly weights: PlayingWeights;
}

/** Cohort with the request that plays it. */
interface PlannedCohort {
  readonly cohort: Cohort;
  readonly request: RolloutRequest;
}

/**
 * Plays the batches of one stage, inside `take`. A batch is in the store's log before it is returned. Where several policies learn, the first that takes the
 * batch of an iteration plays it, and the others get the same episodes.
 */
export class Learner {
  readonly #parts: LearnerParts;
  readonly #order: TaskOrder | undefined;
  readonly #log: BatchLog;
  #state: LearnerState;
  /** Iteration in which each policy took its last batch. */
  readonly #takenIn = new Map<PolicyId, number>();
  /** Iteration in which the last batch was played. */
  #playedIn = 0;
  #taken: PlayedBatch | undefined;
  readonly #learnable = new Map<PolicyId, LearnableParts>();
  #unreported: TimedBatch | undefined;

  /** @param restored result of `state` */
  constructor(parts: LearnerParts, restored?: LearnerState) {
    const { plan, environments, seed, store } = parts;
    this.#parts = parts;
    this.#order = plan === undefined ? undefined : taskOrder(environments, `${plan.name}/tasks`, seed);
    if (restored !== undefined && restored.tasks !== null) this.#order?.seek(restored.tasks);
    this.#log = new BatchLog(store, learnerId(parts));
    this.#state = restored ?? { takes: 0, tasks: this.#order?.position() ?? null };
  }

  state(): LearnerState {
    return this.#state;
  }

  /** Stores the credits of a policy's iteration, which are of the last batch. Rejects with ALGORITHM_INVALID for others. */
  async settle(policy: PolicyId, credits: readonly Credit[]): Promise<void> {
    if (credits.length === 0) return;
    const { algorithms, store } = this.#parts;
    // A resumed run does not have the groups of a batch that was taken before; the store compares their ids.
    if (this.#taken !== undefined || this.#state.takes === 0) {
      const learnable = this.#learnable.get(policy) ?? learnableParts(this.#taken?.groups ?? [], policy);
      this.#learnable.set(policy, learnable);
      assertCredits(credits, learnable, algorithms[policy] ?? policy);
    }
    await store.settle(learnerId(this.#parts), this.#state.takes, { credits, isApplied: false });
  }

  /** Marks the last batch as applied: the stage has ended. */
  async end(): Promise<void> {
    const { takes } = this.#state;
    if (takes > 0) await this.#parts.store.settle(learnerId(this.#parts), takes, { credits: [], isApplied: true });
  }

  /** Returns the batch that was taken since the last call. */
  lap(): TimedBatch | undefined {
    const batch = this.#unreported;
    this.#unreported = undefined;
    return batch;
  }

  /** Returns the source of the batches of a policy. */
  source(policy: PolicyId): EpisodeSource {
    return { take: () => this.#takeFor(policy) };
  }

  async #takeFor(policy: PolicyId): Promise<EpisodeBatch> {
    const { plan, order } = this.#assertDue(policy);
    const { iteration } = this.#parts.progress();
    this.#takenIn.set(policy, iteration);
    if (this.#playedIn !== iteration) {
      this.#taken = await this.#play(plan, order);
      this.#playedIn = iteration;
    }
    const { weights, ...batch } = this.#taken as PlayedBatch;
    return policy === this.#policies[0] ? batch : { ...batch, version: versionOf(policy, batch.played, weights) };
  }

  async #play(plan: PlayPlan, order: TaskOrder): Promise<PlayedBatch> {
    const { iteration, runStep } = this.#parts.progress();
    const [first] = this.#policies as [PolicyId];
    const step = this.#state.takes + 1;
    const began = performance.now();
    const weights = await this.#parts.publish();
    const publish = (performance.now() - began) / 1000;
    const played: TrajectoryGroup[] = [];
    const groups: TrajectoryGroup[] = [];
    let version = weights.versions[first] as number;
    let playedSeconds = 0;
    let refill = 0;
    for (; ; refill++) {
      const at = { step, refill };
      const cohorts = await this.#plan(plan, order.take(plan.groups - groups.length), at, weights);
      const record = { runStep, iteration, version, tasks: order.position() as unknown as JsonValue };
      const requests = new Map(cohorts.map(({ cohort, request }) => [cohort.id, request]));
      const batch = await this.#log.take(
        at,
        cohorts.map(({ cohort }) => cohort),
        record,
        ({ id }) => this.#parts.rollouts.collect(requests.get(id) as RolloutRequest),
      );
      version = batch.record.version;
      playedSeconds += batch.playedSeconds;
      played.push(...batch.groups);
      const isAccepted = batch.groups.map((group) => this.#isAccepted(plan, group, version));
      groups.push(...batch.groups.filter((_, i) => isAccepted[i]));
      const refused = batch.groups.filter((_, i) => !isAccepted[i]).map(({ id }) => id);
      // A process that was killed may have logged the batch and not yet what it refused.
      if (batch.refused.length > 0) this.#assertSame(batch.refused, refused);
      if (refused.length > 0) await this.#parts.store.refuse(learnerId(this.#parts), at, refused);
      if (groups.length >= plan.groups || refill >= (plan.refills ?? 0)) break;
    }
    this.#state = { takes: step, tasks: order.position() };
    const waited = Math.max(0, (performance.now() - began) / 1000 - publish - playedSeconds);
    this.#learnable.clear();
    const seconds = { ...playSeconds(played, playedSeconds), publish, waited };
    this.#unreported = { played, groups, refills: refill, version, seconds };
    return { played, groups, refills: refill, version, weights };
  }

  get #policies(): readonly PolicyId[] {
    return Object.keys(this.#parts.algorithms);
  }

  /** Throws ALGORITHM_INVALID where a logged batch is judged in another way than before. */
  #assertSame(before: readonly string[], now: readonly string[]): void {
    if (new Set(before).symmetricDifference(new Set(now)).size === 0) return;
    throw new MrlmError(
      "ALGORITHM_INVALID",
      `${Object.values(this.#parts.algorithms).join(", ")} refuses ${now.length} groups of a logged batch of which it refused ${before.length} before: its \`accept\` is no pure function of its arguments.`,
    );
  }

  /** Returns the plan and its order. Throws ALGORITHM_INVALID for a take off the plan, CANCELLED after a stop. */
  #assertDue(policy: PolicyId): { readonly plan: PlayPlan; readonly order: TaskOrder } {
    const { algorithms, plan, signal, progress } = this.#parts;
    if (signal.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: signal.reason });
    const { iteration } = progress();
    const refuse = (reason: string): never => {
      throw new MrlmError(
        "ALGORITHM_INVALID",
        `${algorithms[policy]} takes a batch of episodes in iteration ${iteration}: ${reason}.`,
      );
    };
    if (plan === undefined || this.#order === undefined) return refuse("its `plays` states no episodes");
    if (this.#takenIn.get(policy) === iteration) return refuse("it has taken the batch of this iteration already");
    if (!isTakeDue(plan, iteration)) return refuse(`by its \`plays\` a batch is for ${describeEvery(plan)}`);
    return { plan, order: this.#order };
  }

  /** Plans the cohorts of a part of a batch. */
  #plan(
    plan: PlayPlan,
    draws: readonly TaskDraw[],
    at: TakePosition,
    { versions, checksum }: PlayingWeights,
  ): Promise<PlannedCohort[]> {
    const { stage, stageName, sampling, policySampling, environments, rollouts, signal, progress } = this.#parts;
    const [policy] = this.#policies as [PolicyId];
    const own = policySampling === undefined ? {} : { policySampling };
    const refill = plan.refills === undefined ? undefined : at.refill;
    const cohorts = cohortsOf(draws, this.#parts.cohorts).map(async ({ environment, part, tasks, occurrences }) => {
      const {
        ref,
        players = policy,
        sides = "fixed",
        rewardSharing = {},
      } = environments[environment] as PlayedEnvironment;
      const label = groupLabel({ stage, name: plan.name, take: at.step, refill }, environments, environment);
      const { groupSize } = plan;
      const play = { environment: ref, players, sides, rewardSharing, sampling, ...own, label, signal };
      const request = { ...play, tasks, occurrences, groupSize };
      const cohort: Cohort = {
        id: `${label}/${part}`,
        stage: stageName,
        learner: learnerId(this.#parts),
        ...at,
        place: [environment, part],
        environment: ref.id,
        runStep: progress().runStep,
        versions,
        checksum,
        groups: await rollouts.groupsOf(request),
      };
      return { cohort, request };
    });
    return Promise.all(cohorts);
  }

  #isAccepted({ maxStaleness, accept }: PlayPlan, group: TrajectoryGroup, version: number): boolean {
    const [policy] = this.#policies as [PolicyId];
    if (maxStaleness !== undefined && isStale(group, policy, version - maxStaleness)) return false;
    return accept?.(group, { policy, version }) ?? true;
  }
}

/** Whether an iteration takes a batch by a plan. */
function isTakeDue({ every = 1 }: PlayPlan, iteration: number): boolean {
  return every === 0 ? iteration === 1 : (iteration - 1) % every === 0;
}

function describeEvery({ every = 1 }: PlayPlan): string {
  return every === 0
    ? "the first iteration only"
    : every === 1
      ? "each iteration"
      : `the iterations 1, ${1 + every}, ...`;
}

/** Returns the version with which a policy played a batch. A logged batch may have another one than the present weights of the same values. */
function versionOf(policy: PolicyId, played: readonly TrajectoryGroup[], { versions }: PlayingWeights): number {
  for (const { players } of played)
    for (const player of Object.values(players))
      if (player.kind === "policy" && player.policy === policy && player.version !== undefined) return player.version;
  return versions[policy] as number;
}

/** Returns the name of the learners of a stage in the store and in the state of a run: `STAGE/POLICY`, `STAGE/POLICY+POLICY`. */
export function learnerId({ stage, algorithms }: Pick<LearnerParts, "stage" | "algorithms">): LearnerId {
  return `${stage}/${Object.keys(algorithms).join("+")}`;
}
