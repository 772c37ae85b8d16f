import { type Credit, defined, MrlmError, type PolicyId, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeBatch, EpisodeSource, EpisodeStore, LearnerId, PlayPlan } from "@mrlm/spec/host";
import { AsyncTakes } from "./async-takes.ts";
import { cohortRequest, type StageFacts } from "./cohort-requests.ts";
import { CohortWorker } from "./cohort-worker.ts";
import { assertCredits, type LearnableParts, learnableParts } from "./credits.ts";
import { Curriculum } from "./curriculum/curriculum.ts";
import type { CurriculumSettings } from "./curriculum/task-pool.ts";
import type { PlayClock } from "./play-clock.ts";
import { PipelinedTakes } from "./pipelined-takes.ts";
import { selectionOf } from "./selection.ts";
import { agesOf } from "./staleness.ts";
import { type GroupPlayer, type PlayingWeights, TakePlayer } from "./take-player.ts";
import type { SourcedTake, SourceState, TakeSource } from "./take-source.ts";
import { type TaskOrder, taskOrder, type TaskPosition, trainOrders } from "./task-order.ts";

/** Progress of the play of a stage as of the last batch that was taken. */
export interface StagePlayState extends SourceState {
  readonly takes: number;
  /** `null` for a stage that plays nothing. */
  readonly tasks: TaskPosition | null;
}

/** Order of play and learning. */
export interface PlayMode {
  /**
   * `sync`: a batch is played after the one before it was learnt from. `pipelined`: while it is learnt from; every bit follows from the configuration. `async`:
   * without a pause.
   */
  readonly mode: "sync" | "pipelined" | "async";
  /** Largest age of the weights that play, in takes; 0 for `sync`. */
  readonly lag: number;
  /** `async`: whether learning waits for groups that would become older than the lag. Default `wait`. */
  readonly on_stale?: "wait" | "correct";
}

export interface StagePlayParts extends Omit<StageFacts, "policy" | "branches"> {
  /** Returns the number of cohorts that this process may play at the same time now; default 1. */
  parallel?(): number;
  /** Algorithm of each policy that learns from the play, by its id, for errors. At least one. */
  readonly algorithms: Readonly<Record<PolicyId, string>>;
  /** `undefined` where the algorithms play nothing. That of several learners accepts every group. */
  readonly plan: PlayPlan | undefined;
  /** Index of the stage from 0. */
  readonly stage: number;
  /** Name of the stage, as in metrics.jsonl. */
  readonly stageName: string;
  /** Number of iterations of the stage. */
  readonly iterations: number;
  /** Seed of the stage, for the order of tasks. */
  readonly seed: number;
  /** Adaptive order of tasks; default: each task once in an epoch. */
  readonly curriculum?: CurriculumSettings;
  readonly mode: PlayMode;
  /** Parts into which the groups of an environment are divided. */
  readonly cohorts: number;
  /** Number of episodes that this process plays at the same time. */
  readonly concurrency: number;
  readonly rollouts: GroupPlayer;
  readonly store: EpisodeStore;
  /** Number of the iteration in progress, from 1, in the stage and in the run. */
  progress(): { readonly iteration: number; readonly runStep: number };
  /** Publishes the weights of all policies that have changed. */
  publish(): Promise<PlayingWeights>;
  /** Called with each batch before it is learnt from. */
  onTaken?(played: readonly TrajectoryGroup[]): void;
  readonly signal: AbortSignal;
  /** Time by which this process plays; default: that of the system. */
  readonly clock?: PlayClock;
}

/** Batch with the wall-clock seconds of its take. */
export interface TimedBatch extends EpisodeBatch {
  /** Time for which training waited: for samplers, environments and policies of plugins, for the publication of weights, and for the rest. */
  readonly seconds: {
    readonly sampling: number;
    readonly environment: number;
    readonly publish: number;
    readonly waited: number;
  };
  /** Metrics of the mode of play (the waits in seconds, the groups of the buffer) and of the task order. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Plays where no process has a name of its own. */
export const TRAINING_WORKER = "trainer";

/**
 * Plays the batches of one stage, inside `take` or ahead of it. A batch is in the store's log before it is returned. Where several policies learn, the first
 * that takes the batch of an iteration plays it, and the others get the same episodes.
 */
export class StagePlay {
  readonly #parts: StagePlayParts;
  readonly #takes: TakeSource | undefined;
  #state: StagePlayState;
  /** Iteration in which each policy took its last batch. */
  readonly #takenIn = new Map<PolicyId, number>();
  /** Iteration in which the last batch was played. */
  #playedIn = 0;
  #taken: SourcedTake | undefined;
  readonly #learnable = new Map<PolicyId, LearnableParts>();
  #unreported: TimedBatch | undefined;

  /** @param restored result of `state` */
  constructor(parts: StagePlayParts, restored?: StagePlayState) {
    const { plan } = parts;
    this.#parts = parts;
    const order = plan === undefined ? undefined : orderOf(parts, plan);
    if (restored !== undefined && restored.tasks !== null) order?.seek(restored.tasks);
    this.#state = restored ?? { takes: 0, tasks: order?.position() ?? null };
    if (plan !== undefined && order !== undefined) this.#takes = takeSource(parts, plan, order, this.#state);
  }

  state(): StagePlayState {
    return { ...this.#state, ...this.#takes?.state() };
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

  /** Waits until everything that is played ahead is in the store. Evaluations and checkpoints publish weights after it. */
  settled(): Promise<void> {
    return this.#takes?.settled() ?? Promise.resolve();
  }

  /** Marks the last batches as applied: the stage has ended. What was played ahead of the end is abandoned. */
  async end(): Promise<void> {
    await this.close();
    const { takes } = this.#state;
    const { store, mode } = this.#parts;
    const learner = learnerId(this.#parts);
    // Batches that were played ahead were in the log before these were learnt from.
    for (let step = Math.max(1, takes - mode.lag); step <= takes; step++)
      await store.settle(learner, step, { credits: [], isApplied: true });
    if (mode.lag > 0 && this.#takes !== undefined) await store.abandon(learner, takes + 1);
  }

  /** Stops the play, after which nothing uses the store. */
  close(): Promise<void> {
    return this.#takes?.close() ?? Promise.resolve();
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
    const takes = this.#assertDue(policy);
    const { iteration } = this.#parts.progress();
    this.#takenIn.set(policy, iteration);
    if (this.#playedIn !== iteration) {
      this.#taken = await this.#take(takes);
      this.#playedIn = iteration;
    }
    const { played, groups, refills, newestOf } = this.#taken as SourcedTake;
    return { played, groups, refills, version: newestOf(policy) };
  }

  async #take(source: TakeSource): Promise<SourcedTake> {
    const { takes } = this.#state;
    const began = performance.now();
    const take = await source.next({ step: takes + 1, ...this.#parts.progress() });
    const { played, groups, refills, tasks, playedSeconds } = take;
    this.#parts.onTaken?.(played);
    this.#state = { takes: takes + 1, tasks };
    this.#learnable.clear();
    const { publish } = take.seconds;
    const waited = Math.max(0, (performance.now() - began) / 1000 - publish);
    const inPlay = Math.min(waited, playedSeconds);
    const seconds = { ...playSeconds(played, inPlay), publish, waited: waited - inPlay };
    const [policy] = this.#policies as [PolicyId];
    const version = take.newestOf(policy);
    this.#unreported = {
      played,
      groups,
      refills,
      version,
      seconds,
      metrics: { ...playMetrics(this.#parts.mode, take, this.#policies, waited), ...take.orderMetrics },
    };
    return take;
  }

  get #policies(): readonly PolicyId[] {
    return Object.keys(this.#parts.algorithms);
  }

  /** Returns the source of batches. Throws ALGORITHM_INVALID for a take off the plan, CANCELLED after a stop. */
  #assertDue(policy: PolicyId): TakeSource {
    const { algorithms, plan, signal, progress } = this.#parts;
    if (signal.aborted) throw new MrlmError("CANCELLED", "The run was stopped.", { cause: signal.reason });
    const { iteration } = progress();
    const refuse = (reason: string): never => {
      throw new MrlmError(
        "ALGORITHM_INVALID",
        `${algorithms[policy]} takes a batch of episodes in iteration ${iteration}: ${reason}.`,
      );
    };
    if (plan === undefined || this.#takes === undefined) return refuse("its `plays` states no episodes");
    if (this.#takenIn.get(policy) === iteration) return refuse("it has taken the batch of this iteration already");
    if (!isTakeDue(plan, iteration)) return refuse(`by its \`plays\` a batch is for ${describeEvery(plan)}`);
    return this.#takes;
  }
}

function orderOf({ environments, seed, curriculum: settings, mode }: StagePlayParts, plan: PlayPlan): TaskOrder {
  const [name, { groups }] = [`${plan.name}/tasks`, plan];
  if (settings === undefined) return taskOrder(environments, name, seed);
  const ahead = mode.mode === "async" ? (mode.lag + 1) * groups : undefined;
  return new Curriculum(environments, trainOrders(environments, name, seed), {
    settings,
    groups,
    ...defined({ ahead }),
  });
}

function takeSource(parts: StagePlayParts, plan: PlayPlan, order: TaskOrder, state: StagePlayState): TakeSource {
  const { algorithms, mode, iterations, store, rollouts, concurrency, publish, signal, clock } = parts;
  const policies = Object.keys(algorithms);
  const [policy] = policies as [PolicyId];
  const { every = 1 } = plan;
  const stage = { ...parts, policy, ...defined({ branches: plan.branches && { ...plan.branches, policies } }) };
  const worker = new CohortWorker({
    store,
    name: TRAINING_WORKER,
    ...defined({ clock }),
    play: (cohort, stop) => rollouts.collect({ ...cohortRequest(stage, cohort), signal: stop }),
  });
  const player = {
    ...stage,
    plan,
    lag: mode.lag,
    learner: learnerId(parts),
    algorithms: Object.values(algorithms),
    worker,
    parallel: () => parts.parallel?.() ?? 1,
  };
  const { lag, on_stale: onStale = "wait" } = mode;
  const lastTake = every === 0 ? 1 : Math.ceil(iterations / every);
  if (mode.mode === "async") {
    const groups = Math.max(1, Math.floor(concurrency / plan.groupSize));
    const parts = { ...player, lastTake, every, concurrency: groups, onStale, policies, publish, signal };
    return new AsyncTakes(parts, order, state);
  }
  return new PipelinedTakes({ player: new TakePlayer(player, order), lag, lastTake, every, publish, signal }, state);
}

function playMetrics(
  { mode }: PlayMode,
  take: SourcedTake,
  policies: readonly PolicyId[],
  waited: number,
): Readonly<Record<string, number>> {
  if (mode === "sync") return {};
  const { rolloutsWaited, buffer } = take;
  const counts = Object.entries(buffer ?? {}).map(([name, count]) => [`buffer/${name}`, count]);
  const { mean, largest } = agesOf(take.groups, policies, take.newestOf);
  return {
    "wait/training": waited,
    "wait/rollouts": rolloutsWaited,
    "offpolicy/lag_mean": mean,
    "offpolicy/lag_max": largest,
    ...(mode === "async" ? selectionOf(take) : {}),
    ...Object.fromEntries(counts),
  };
}

/** Divides the seconds of play between sampler, environment and policies of plugins, in proportion to the time that episodes waited for each. */
function playSeconds(groups: readonly TrajectoryGroup[], seconds: number): Trajectory["seconds"] {
  let [sampling, environment, players] = [0, 0, 0];
  for (const trajectory of groups.flatMap(({ trajectories }) => trajectories)) {
    environment += trajectory.seconds.environment;
    sampling += trajectory.seconds.sampling;
    players += trajectory.seconds.players ?? 0;
  }
  const each = seconds / Math.max(1e-9, environment + sampling + players);
  return {
    sampling: seconds - each * (environment + players),
    environment: each * environment,
    ...(players > 0 ? { players: each * players } : {}),
  };
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

/** Returns the name of the learners of a stage in the store and in the state of a run: `STAGE/POLICY`, `STAGE/POLICY+POLICY`. */
export function learnerId({ stage, algorithms }: Pick<StagePlayParts, "stage" | "algorithms">): LearnerId {
  return `${stage}/${Object.keys(algorithms).join("+")}`;
}
