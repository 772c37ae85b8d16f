import {
  type Credit,
  type EpisodeBatch,
  type EpisodeSource,
  type ModelId,
  MrlmError,
  type PlayPlan,
  type Rollouts,
  type RolloutSampling,
  type TrajectoryGroup,
} from "@mrlm/spec";
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

/** Parts of a learner. */
export interface LearnerParts {
  /** Id of the algorithm, for errors. */
  readonly algorithm: string;
  /** `undefined` where the algorithm plays nothing. */
  readonly plan: PlayPlan | undefined;
  /** Index of the stage from 0. */
  readonly stage: number;
  readonly policy: ModelId;
  readonly sampling: RolloutSampling;
  readonly environments: readonly PlayedEnvironment[];
  /** Seed of the stage, for the order of tasks. */
  readonly seed: number;
  /** Parts into which the groups of an environment are divided. */
  readonly cohorts: number;
  readonly rollouts: Rollouts;
  /** Number of the iteration in progress, from 1. */
  iteration(): number;
  /** Publishes the policy's weights if they have changed, and returns their version. */
  publish(): Promise<{ readonly version: number }>;
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

/** Plays the batches of one algorithm in one stage, inside `take`. */
export class Learner implements EpisodeSource {
  readonly #parts: LearnerParts;
  readonly #order: TaskOrder | undefined;
  #state: LearnerState;
  #takenIn = 0;
  #taken: EpisodeBatch | undefined;
  #learnable: LearnableParts | undefined;
  #unreported: TimedBatch | undefined;

  /** @param restored result of `state` */
  constructor(parts: LearnerParts, restored?: LearnerState) {
    const { plan, environments, seed } = parts;
    this.#parts = parts;
    this.#order = plan === undefined ? undefined : taskOrder(environments, `${plan.name}/tasks`, seed);
    if (restored !== undefined && restored.tasks !== null) this.#order?.seek(restored.tasks);
    this.#state = restored ?? { takes: 0, tasks: this.#order?.position() ?? null };
  }

  state(): LearnerState {
    return this.#state;
  }

  /** Checks the credits of an iteration, which are of the last batch. Throws ALGORITHM_INVALID. */
  settle(credits: readonly Credit[]): void {
    // A resumed run does not have the groups of a batch that was taken before.
    if (this.#taken === undefined || credits.length === 0) return;
    this.#learnable ??= learnableParts(this.#taken.groups, this.#parts.policy);
    assertCredits(credits, this.#learnable, this.#parts.algorithm);
  }

  /** Returns the batch that was taken since the last call. */
  lap(): TimedBatch | undefined {
    const batch = this.#unreported;
    this.#unreported = undefined;
    return batch;
  }

  async take(): Promise<EpisodeBatch> {
    const { plan, order } = this.#assertDue();
    this.#takenIn = this.#parts.iteration();
    const take = this.#state.takes + 1;
    const began = performance.now();
    const { version } = await this.#parts.publish();
    const published = performance.now();
    const played: TrajectoryGroup[] = [];
    const groups: TrajectoryGroup[] = [];
    let playedSeconds = 0;
    let refill = 0;
    for (; ; refill++) {
      const draws = order.take(plan.groups - groups.length);
      const start = performance.now();
      const found = await this.#play(plan, draws, take, plan.refills === undefined ? undefined : refill);
      playedSeconds += (performance.now() - start) / 1000;
      played.push(...found);
      groups.push(...found.filter((group) => this.#isAccepted(plan, group, version)));
      if (groups.length >= plan.groups || refill >= (plan.refills ?? 0)) break;
    }
    this.#state = { takes: take, tasks: order.position() };
    const publish = (published - began) / 1000;
    const waited = Math.max(0, (performance.now() - began) / 1000 - publish - playedSeconds);
    const batch = { played, groups, refills: refill, version };
    this.#taken = batch;
    this.#learnable = undefined;
    this.#unreported = { ...batch, seconds: { ...playSeconds(played, playedSeconds), publish, waited } };
    return batch;
  }

  /** Returns the plan and its order. Throws ALGORITHM_INVALID for a take off the plan, CANCELLED after a stop. */
  #assertDue(): { readonly plan: PlayPlan; readonly order: TaskOrder } {
    const { algorithm, plan, signal, iteration } = this.#parts;
    if (signal.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: signal.reason });
    const refuse = (reason: string): never => {
      throw new MrlmError(
        "ALGORITHM_INVALID",
        `${algorithm} takes a batch of episodes in iteration ${iteration()}: ${reason}.`,
      );
    };
    if (plan === undefined || this.#order === undefined) return refuse("its `plays` states no episodes");
    if (this.#takenIn === iteration()) return refuse("it has taken the batch of this iteration already");
    if (!isTakeDue(plan, iteration())) return refuse(`by its \`plays\` a batch is for ${describeEvery(plan)}`);
    return { plan, order: this.#order };
  }

  async #play(
    plan: PlayPlan,
    draws: readonly TaskDraw[],
    take: number,
    refill: number | undefined,
  ): Promise<TrajectoryGroup[]> {
    const { stage, policy, sampling, environments, cohorts, rollouts, signal } = this.#parts;
    const groups: TrajectoryGroup[] = [];
    for (const { environment, tasks, occurrences } of cohortsOf(draws, cohorts)) {
      const { ref, players = policy, sides = "fixed" } = environments[environment] as PlayedEnvironment;
      const request = {
        environment: ref,
        players,
        sides,
        tasks,
        occurrences,
        groupSize: plan.groupSize,
        sampling,
        label: groupLabel({ stage, name: plan.name, take, refill }, environments, environment),
        signal,
      };
      for await (const group of rollouts.collect(request)) groups.push(group);
    }
    return groups;
  }

  #isAccepted({ maxStaleness, accept }: PlayPlan, group: TrajectoryGroup, version: number): boolean {
    const { policy } = this.#parts;
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
