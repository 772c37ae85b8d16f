import { MrlmError, type PolicyId, type TaskId, type TrajectoryGroup } from "@mrlm/spec";
import type { Cohort, EpisodeStore, TakenBatch } from "@mrlm/spec/host";
import { stageRequest } from "./cohort-requests.ts";
import { pause } from "./play-clock.ts";
import { groupLabel } from "./labels.ts";
import { playLeases } from "./cohort-worker.ts";
import { agesOf, isStale } from "./staleness.ts";
import {
  assertSameRefusals,
  isLearntFrom,
  type PlayingWeights,
  type TakePlace,
  type TakePlayerParts,
} from "./take-player.ts";
import type { OpenedGroup, SourcedTake, SourceState, TakeSource } from "./take-source.ts";
import { loggedPosition, type TaskOrder } from "./task-order.ts";

/** Takes over which the delay of samplers is measured. */
const DELAY_TAKES = 32;

export interface AsyncParts extends TakePlayerParts {
  /** Number of the last take of the stage. */
  readonly lastTake: number;
  /** Iterations from one take to the next. */
  readonly every: number;
  /** Number of groups that this process plays at the same time. */
  readonly concurrency: number;
  /** Whether a take waits for slow groups, or is of the groups that were played first, however old their tokens become. */
  readonly onStale: "wait" | "correct";
  /** Policies that learn from the groups, each with an age of its own. */
  readonly policies: readonly PolicyId[];
  publish(): Promise<PlayingWeights>;
  readonly signal: AbortSignal;
}

/**
 * Plays groups beside learning, each with the weights that are published while it is played. A group is opened when the takes before it are at most `lag`: at
 * most `lag` takes of groups wait beside those that the next take needs, and no more than the takes up to the last one need. Takes are in the order of
 * opening, so that the time of a play decides nothing about what is learnt, and no token is older than the lag when it is learnt from. A take waits
 * for its slowest group; with `correct` it is the groups that were played first.
 */
export class AsyncTakes implements TakeSource {
  readonly #parts: AsyncParts;
  readonly #order: TaskOrder;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #opened: number;
  /** Groups that were opened and not taken, by id. */
  readonly #waiting = new Map<string, OpenedGroup>();
  /** Groups that waited when the state was saved. Those that the store has not played are opened again. */
  #restored: readonly OpenedGroup[];
  /** Groups of logged batches that this process has not opened yet. */
  readonly #early = new Set<string>();
  #late = 0;
  #playing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Resolves when this process has opened or played a group. */
  #change = Promise.withResolvers<void>();
  /** Seconds in which nothing could be played, since the last take. */
  #idle = 0;
  /**
   * For the last takes, the largest number of takes by which a token was older than the weights at the opening of its group: samplers in other processes read
   * new weights later.
   */
  #delays: readonly number[] = [];

  constructor(parts: AsyncParts, order: TaskOrder, { opened = 0, waiting = [] }: SourceState = {}) {
    this.#parts = parts;
    this.#order = order;
    this.#opened = opened;
    this.#restored = waiting;
    this.#signal = AbortSignal.any([parts.signal, this.#stop.signal]);
  }

  async next(place: TakePlace): Promise<SourcedTake> {
    const { step, iteration, runStep } = place;
    const { plan, policy, store, learner, algorithms } = this.#parts;
    const began = performance.now();
    const weights = await this.#parts.publish();
    const publish = (performance.now() - began) / 1000;
    const played: TrajectoryGroup[] = [];
    const groups: TrajectoryGroup[] = [];
    const published = (each: PolicyId): number => weights.versions[each] as number;
    let version = published(policy);
    // A take publishes all policies that have changed, so that the logged version of one states those of the others, also where a resumed run counts on from another number.
    const newestOf = (each: PolicyId): number => published(each) + version - published(policy);
    let [refill, refills, refusals] = [0, 0, 0];
    this.#delays = [...this.#delays.slice(1 - DELAY_TAKES), 0];
    for (; ; refill++) {
      const record = { runStep, iteration, version, tasks: loggedPosition(this.#order.position()) };
      const batch = await this.#take(place, refill, plan.groups - groups.length, record);
      version = batch.record.version;
      this.#order.observe(batch.groups);
      const delays = batch.groups.map((group) => this.#delayOf(group, step, newestOf));
      this.#delays = [...this.#delays.slice(0, -1), Math.max(this.#delays.at(-1) ?? 0, ...delays)];
      for (const { id } of batch.groups) if (!this.#waiting.delete(id)) this.#early.add(id);
      const judged = batch.groups.map((group) => ({ group, ...this.#judge(group, newestOf) }));
      played.push(...batch.groups);
      const refused = judged.filter(({ isLearnt }) => !isLearnt);
      const ids = refused.map(({ group }) => group.id);
      if (batch.refused.length > 0) assertSameRefusals(algorithms, batch.refused, ids);
      if (ids.length > 0) await store.refuse(learner, { step, refill }, ids);
      groups.push(...judged.flatMap(({ group, isLearnt }) => (isLearnt ? group : [])));
      refusals += refused.length;
      if (groups.length >= plan.groups) break;
      // Groups that are too old are always replaced, others as often as the algorithm states.
      const isChosen = refused.some(({ isTooOld }) => !isTooOld);
      if (isChosen && refills++ >= (plan.refills ?? 0)) break;
    }
    await this.#open(place, 0);
    const rolloutsWaited = this.#idle;
    this.#idle = 0;
    const late = this.#late;
    this.#late = 0;
    return {
      played,
      groups,
      refills: refill,
      version,
      newestOf,
      policy,
      age: 0,
      weights,
      tasks: this.#order.position(),
      orderMetrics: this.#order.metrics(),
      playedSeconds: Infinity,
      seconds: { publish },
      rolloutsWaited,
      buffer: { ...(await store.buffer(learner)), learnt: groups.length, refused: refusals, late },
    };
  }

  state(): SourceState {
    return { opened: this.#opened, waiting: [...this.#waiting.values(), ...this.#restored] };
  }

  async settled(): Promise<void> {}

  async close(): Promise<void> {
    this.#stop.abort();
    this.#change.resolve();
    await this.#playing;
  }

  /** Opens groups, plays, and waits for those of the take. What the log has is not waited for. */
  async #take(
    place: TakePlace,
    refill: number,
    count: number,
    record: Parameters<EpisodeStore["take"]>[4],
  ): Promise<TakenBatch> {
    const { store, learner, worker, onStale } = this.#parts;
    const rule = { from: onStale === "wait" ? "opened" : "oldest", checksum: null } as const;
    for (;;) {
      await this.#open(place, count);
      const { promise: change } = this.#change;
      const taken = await store.take(learner, { step: place.step, refill }, count, rule, record);
      if (typeof taken !== "string") return taken;
      if (this.#failure !== undefined) throw this.#failure.error;
      this.#playing ??= this.#play();
      await Promise.race([change, pause(worker.clock, this.#signal)]);
    }
  }

  /** Returns the number of takes by which a token of a group is older than the weights at its opening. */
  #delayOf(group: TrajectoryGroup, step: number, newestOf: (policy: PolicyId) => number): number {
    const opened = this.#waiting.get(group.id)?.step ?? step;
    const { largest } = agesOf([group], this.#parts.policies, newestOf);
    return Math.ceil(largest / this.#versions) - (step - opened);
  }

  /** Largest number of versions that are published from one take to the next: evaluations and checkpoints publish too, at most once in an iteration. */
  get #versions(): number {
    return Math.max(1, this.#parts.every);
  }

  /**
   * A group that waits can only be too old where samplers read new weights later than in the takes before, or a resumed run has a smaller lag, or other
   * intervals of publication, than before.
   */
  #judge(
    group: TrajectoryGroup,
    newestOf: (policy: PolicyId) => number,
  ): { readonly isTooOld: boolean; readonly isLearnt: boolean } {
    const { plan, policy, policies, lag, onStale } = this.#parts;
    const versions = lag * this.#versions;
    const isTooOld = onStale === "wait" && policies.some((each) => isStale(group, each, newestOf(each) - versions));
    return { isTooOld, isLearnt: !isTooOld && isLearntFrom(plan, policy, group, newestOf(policy)) };
  }

  /**
   * Opens groups up to the capacity. Ids and contents follow from the position alone, so that a resumed run opens the same, which changes nothing where the
   * store has them. Each of `lag` later takes is of at least a batch, so that a group is taken `lag` versions after it was opened at the latest, or earlier by
   * the delay of the samplers.
   * @param missing number of groups that the take still needs
   */
  async #open(place: TakePlace, missing: number): Promise<void> {
    const { plan, lag, lastTake } = this.#parts;
    const later = Math.max(0, Math.min(lag - Math.max(0, ...this.#delays), lastTake - place.step));
    const capacity = missing + later * plan.groups;
    for (const group of this.#restored) await this.#openGroup(place, group);
    this.#restored = [];
    const before = this.#opened;
    // An earlier process has opened the groups of logged batches, and those before them.
    while (this.#waiting.size < capacity || this.#early.size > 0) {
      // No process has more groups that wait.
      if (this.#waiting.size - this.#early.size >= (lag + 1) * plan.groups) throw otherTasks(this.#early);
      const draw = this.#order.take(1).find(({ tasks }) => tasks.length > 0);
      if (draw === undefined) return;
      const { environment, tasks } = draw;
      const [number, task] = [this.#opened + 1, tasks[0] as TaskId];
      await this.#openGroup(place, { number, environment, task, step: place.step });
      this.#opened++;
    }
    if (this.#opened > before) this.#changed();
  }

  async #openGroup(place: TakePlace, group: OpenedGroup): Promise<void> {
    const { plan, stage, stageName, learner, environments, rollouts, store } = this.#parts;
    const { number, environment, task } = group;
    const label = groupLabel({ stage, name: plan.name, take: number, refill: undefined }, environments, environment);
    const at = { environment, label, tasks: [task], occurrences: [0], groupSize: plan.groupSize, versions: {} };
    const request = stageRequest(this.#parts, at);
    const groups = await rollouts.groupsOf(request);
    const cohort: Cohort = {
      id: `${label}/0`,
      stage: stageName,
      learner,
      step: 0,
      refill: 0,
      place: [environment, number],
      environment: request.environment.id,
      runStep: this.#usualStep(place, number),
      versions: {},
      checksum: null,
      groups,
    };
    await store.open(cohort);
    for (const { id } of groups) if (!this.#early.delete(id)) this.#waiting.set(id, group);
  }

  /** Step of the run that learns from a group where none is refused. */
  #usualStep({ step, runStep }: TakePlace, number: number): number {
    const { plan, every } = this.#parts;
    return runStep + (Math.floor((number - 1) / plan.groups) - (step - 1)) * every;
  }

  /** Plays leased groups until the stage ends. */
  async #play(): Promise<void> {
    const { worker, concurrency } = this.#parts;
    try {
      await playLeases(worker, {
        limit: () => concurrency,
        signal: this.#signal,
        wake: () => this.#change.promise,
        onPlayed: ({ result }) => {
          if (result === "late") this.#late++;
          this.#changed();
        },
        onIdle: (seconds) => (this.#idle += seconds),
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (!this.#stop.signal.aborted) this.#failure ??= { error };
    this.#changed();
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function otherTasks(groups: Iterable<string>): MrlmError {
  const [first] = groups;
  return new MrlmError(
    "STORE_INVALID",
    `The store has a batch with the group ${first}, which is of no task of this run.`,
    {
      hint: "Resume with the configuration of the run, or restore the store from a copy.",
    },
  );
}
