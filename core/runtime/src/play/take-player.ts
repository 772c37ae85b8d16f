import { minibatches } from "@mrlm/kit/learning";
import { MrlmError, type PolicyId, type TaskId, type TrajectoryGroup } from "@mrlm/spec";
import type {
  Cohort,
  EpisodeStore,
  LearnerId,
  PlannedGroup,
  PlayPlan,
  RolloutRequest,
  Rollouts,
  TakePosition,
} from "@mrlm/spec/host";
import { BatchLog } from "./batch-log.ts";
import { type StageFacts, stageRequest } from "./cohort-requests.ts";
import type { CohortWorker } from "./cohort-worker.ts";
import { groupLabel } from "./labels.ts";
import { isStale } from "./staleness.ts";
import { loggedPosition, type TaskDraw, type TaskOrder, type TaskPosition } from "./task-order.ts";

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

/** Place of a take in a run. */
export interface TakePlace {
  /** Number of the take, from 1. */
  readonly step: number;
  /** Iteration of the stage and step of the run that learn from it first, from 1. */
  readonly iteration: number;
  readonly runStep: number;
}

/** Groups of a take. */
export interface PlayedTake {
  readonly played: readonly TrajectoryGroup[];
  /** Accepted groups, in order of play. */
  readonly groups: readonly TrajectoryGroup[];
  readonly refills: number;
  /** First of the policies that learn, and its version from which ages count, as it was logged. */
  readonly policy: PolicyId;
  readonly version: number;
  /** Number of takes that are learnt from between the weights that play and those that learn. */
  readonly age: number;
  /** Present weights; a logged batch may have been played by equal ones of another version. */
  readonly weights: PlayingWeights;
  /** Position of the task order after the take, and its metrics. */
  readonly tasks: TaskPosition;
  readonly orderMetrics: Readonly<Record<string, number>>;
  /** Seconds in which this process played. */
  readonly playedSeconds: number;
}

/** Parts of a player of takes. */
export interface TakePlayerParts extends StageFacts {
  readonly plan: PlayPlan;
  /** Names of the algorithms, for errors. */
  readonly algorithms: readonly string[];
  readonly learner: LearnerId;
  /** Index of the stage from 0. */
  readonly stage: number;
  /** Name of the stage, as in metrics.jsonl. */
  readonly stageName: string;
  /** Largest age of the weights that play, in takes. */
  readonly lag: number;
  /** Parts into which the groups of an environment are divided. */
  readonly cohorts: number;
  readonly rollouts: GroupPlayer;
  readonly store: EpisodeStore;
  readonly worker: CohortWorker;
  /** Returns the number of cohorts that this process may play at the same time now. */
  parallel(): number;
}

/** Plays the takes of a stage in order: the groups of a batch, then the replacements of those that are refused. */
export class TakePlayer {
  readonly #parts: TakePlayerParts;
  readonly #order: TaskOrder;
  readonly #log: BatchLog;

  /** @param order its position is that before the next take */
  constructor(parts: TakePlayerParts, order: TaskOrder) {
    this.#parts = parts;
    this.#order = order;
    this.#log = new BatchLog(parts.store, parts.learner, parts.worker, () => parts.parallel());
  }

  /** @param mayPlay false: the weights are gone, and the store has the episodes */
  async play(place: TakePlace, weights: PlayingWeights, signal: AbortSignal, mayPlay = true): Promise<PlayedTake> {
    const { plan, policy, lag, store, learner } = this.#parts;
    const { step, runStep, iteration } = place;
    const order = this.#order;
    const played: TrajectoryGroup[] = [];
    const groups: TrajectoryGroup[] = [];
    // The weights that learn from the take are those after all takes before it.
    const age = Math.min(lag, step - 1);
    let version = (weights.versions[policy] as number) + age;
    let playedSeconds = 0;
    let refill = 0;
    for (; ; refill++) {
      const at = { step, refill };
      const cohorts = await this.#plan(order.take(plan.groups - groups.length), at, runStep, weights);
      const record = { runStep, iteration, version, tasks: loggedPosition(order.position()) };
      const batch = await this.#log.take({ at, appliedBefore: step - lag }, cohorts, record, signal, mayPlay);
      version = batch.record.version;
      playedSeconds += batch.playedSeconds;
      order.observe(batch.groups);
      played.push(...batch.groups);
      const isAccepted = batch.groups.map((group) => isLearntFrom(plan, policy, group, version));
      groups.push(...batch.groups.filter((_, i) => isAccepted[i]));
      const refused = batch.groups.filter((_, i) => !isAccepted[i]).map(({ id }) => id);
      // A process that was killed may have logged the batch and not yet what it refused.
      if (batch.refused.length > 0) assertSameRefusals(this.#parts.algorithms, batch.refused, refused);
      if (refused.length > 0) await store.refuse(learner, at, refused);
      if (groups.length >= plan.groups || refill >= (plan.refills ?? 0)) break;
    }
    const after = { tasks: order.position(), orderMetrics: order.metrics() };
    return { played, groups, refills: refill, policy, version, age, weights, ...after, playedSeconds };
  }

  /** Plans the cohorts of a part of a batch. */
  #plan(
    draws: readonly TaskDraw[],
    at: TakePosition,
    runStep: number,
    { versions, checksum }: PlayingWeights,
  ): Promise<Cohort[]> {
    const { plan, stage, stageName, learner, environments, rollouts } = this.#parts;
    const refill = plan.refills === undefined ? undefined : at.refill;
    const cohorts = cohortsOf(draws, this.#parts.cohorts).map(async ({ environment, part, tasks, occurrences }) => {
      const label = groupLabel({ stage, name: plan.name, take: at.step, refill }, environments, environment);
      const { groupSize } = plan;
      const request = stageRequest(this.#parts, { environment, label, tasks, occurrences, groupSize, versions });
      return {
        id: `${label}/${part}`,
        stage: stageName,
        learner,
        ...at,
        place: [environment, part] as const,
        environment: request.environment.id,
        runStep,
        versions,
        checksum,
        groups: await rollouts.groupsOf(request),
      };
    });
    return Promise.all(cohorts);
  }
}

/** Returns the version of a policy from which ages count. A logged take may have been played by equal weights of another version than now. */
export function newestVersion(policy: PolicyId, take: PlayedTake): number {
  if (policy === take.policy) return take.version;
  for (const { players } of take.played)
    for (const player of Object.values(players))
      if (player.kind === "policy" && player.policy === policy && player.version !== undefined)
        return player.version + take.age;
  return (take.weights.versions[policy] as number) + take.age;
}

/** Whether a group is young enough and accepted by the algorithm. */
export function isLearntFrom(
  { maxStaleness, accept }: PlayPlan,
  policy: PolicyId,
  group: TrajectoryGroup,
  version: number,
): boolean {
  if (maxStaleness !== undefined && isStale(group, policy, version - maxStaleness)) return false;
  return accept?.(group, { policy, version }) ?? true;
}

/** Throws ALGORITHM_INVALID where a logged batch is judged in another way than before. */
export function assertSameRefusals(
  algorithms: readonly string[],
  before: readonly string[],
  now: readonly string[],
): void {
  if (new Set(before).symmetricDifference(new Set(now)).size === 0) return;
  throw new MrlmError(
    "ALGORITHM_INVALID",
    `${algorithms.join(", ")} refuses ${now.length} groups of a logged batch of which it refused ${before.length} before: its \`accept\` is no pure function of its arguments.`,
  );
}

/** Groups that are played together: they share sampling waves, and the last bits of their logits depend on it. */
interface TaskCohort {
  /** Index of the environment in the configuration. */
  readonly environment: number;
  /** Index of the part among those of the environment. */
  readonly part: number;
  readonly tasks: readonly TaskId[];
  /** Number of earlier groups of the same task in the draw, for each task. */
  readonly occurrences: readonly number[];
}

/** Divides each environment's tasks into at most `parts` cohorts of nearly equal size, in order. Group ids do not depend on the division. */
function cohortsOf(draws: readonly TaskDraw[], parts: number): TaskCohort[] {
  return draws.flatMap(({ environment, tasks }) => {
    const seen = new Map<TaskId, number>();
    const counted = tasks.map((task) => {
      const occurrence = seen.get(task) ?? 0;
      seen.set(task, occurrence + 1);
      return { task, occurrence };
    });
    return minibatches(counted, parts).map((own, part) => ({
      environment,
      part,
      tasks: own.map(({ task }) => task),
      occurrences: own.map(({ occurrence }) => occurrence),
    }));
  });
}
