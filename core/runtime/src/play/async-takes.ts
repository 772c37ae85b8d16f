import { type Cohort, type EpisodeStore, type JsonValue, type TakenBatch, type TrajectoryGroup } from "@mrlm/spec";
import { stageRequest } from "./cohort-requests.ts";
import { pause } from "./cohort-worker.ts";
import { groupLabel } from "./labels.ts";
import { playLeases } from "./play-leases.ts";
import { learnableParts } from "./credits.ts";
import { isStale, withoutStale } from "./staleness.ts";
import {
  assertSameRefusals,
  isLearntFrom,
  type PlayingWeights,
  type TakePlace,
  type TakePlayerParts,
} from "./take-player.ts";
import type { SourcedTake, SourceState, TakeSource } from "./take-source.ts";
import type { TaskOrder } from "./task-order.ts";

/** Parts of asynchronous play. */
export interface AsyncParts extends TakePlayerParts {
  /** Iterations from one take to the next. */
  readonly every: number;
  /** Number of groups that this process plays at the same time. */
  readonly concurrency: number;
  /** Treatment of a group with a token that is older than the lag: refuse it, or learn from its other tokens. */
  readonly onStale: "drop" | "mask";
  publish(): Promise<PlayingWeights>;
  readonly signal: AbortSignal;
}

/**
 * Plays groups without a pause, each with the weights that are published while it is played. A take is the groups that were played first. A group with a token
 * that is older than the lag is refused, recorded and replaced; with `mask` only where no token of it is younger. Both follow from the logged batch. At most (lag + 1) takes of groups are open, leased or waiting to be taken.
 */
export class AsyncTakes implements TakeSource {
  readonly #parts: AsyncParts;
  readonly #order: TaskOrder;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #opened: number;
  #taken: number;
  #late = 0;
  /** Groups that are open, leased or ready; `undefined` where the store must be asked. A process that resumes finds fewer than were opened: it abandoned those under way. */
  #outstanding: number | undefined;
  #playing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Resolves when this process has opened or played a group. */
  #change = Promise.withResolvers<void>();
  /** Seconds in which nothing could be played, since the last take. */
  #idle = 0;

  constructor(parts: AsyncParts, order: TaskOrder, { opened = 0, taken = 0 }: SourceState = {}) {
    this.#parts = parts;
    this.#order = order;
    this.#opened = opened;
    this.#taken = taken;
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
    let version = weights.versions[policy] as number;
    let [refill, refills, refusals] = [0, 0, 0];
    for (; ; refill++) {
      const record = { runStep, iteration, version, tasks: this.#order.position() as unknown as JsonValue };
      const batch = await this.#take(place, refill, plan.groups - groups.length, record);
      version = batch.record.version;
      const judged = batch.groups.map((group) => this.#judge(group, version));
      played.push(...judged.map(({ group }) => group));
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
    await this.#open(place);
    const rolloutsWaited = this.#idle;
    this.#idle = 0;
    const late = this.#late;
    this.#late = 0;
    return {
      played,
      groups,
      refills: refill,
      version,
      newestOf: (each) => (each === policy ? version : (weights.versions[each] as number)),
      policy,
      age: 0,
      weights,
      tasks: this.#order.position(),
      playedSeconds: Infinity,
      seconds: { publish },
      rolloutsWaited,
      buffer: { ...(await store.buffer(learner)), refused: refusals, late },
    };
  }

  state(): SourceState {
    return { opened: this.#opened, taken: this.#taken };
  }

  async settled(): Promise<void> {}

  async close(): Promise<void> {
    this.#stop.abort();
    this.#change.resolve();
    await this.#playing;
  }

  /** Waits for the oldest groups that were played, and plays. What the log has is not waited for. */
  async #take(
    place: TakePlace,
    refill: number,
    count: number,
    record: Parameters<EpisodeStore["take"]>[4],
  ): Promise<TakenBatch> {
    const { store, learner } = this.#parts;
    const rule = { from: "oldest", checksum: null } as const;
    for (;;) {
      const { promise: change } = this.#change;
      const taken = await store.take(learner, { step: place.step, refill }, count, rule, record);
      if (typeof taken !== "string") {
        this.#taken += taken.groups.length;
        this.#outstanding = undefined;
        return taken;
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#open(place);
      this.#playing ??= this.#play();
      await Promise.race([change, pause(this.#signal)]);
    }
  }

  /** Returns what is learnt from a group, with whether anything is. */
  #judge(
    group: TrajectoryGroup,
    version: number,
  ): { readonly group: TrajectoryGroup; readonly isTooOld: boolean; readonly isLearnt: boolean } {
    const { plan, policy, lag, onStale } = this.#parts;
    const young = onStale === "mask" ? withoutStale(group, policy, version - lag) : group;
    const isTooOld =
      onStale === "mask"
        ? young !== group && learnableParts([young], policy).size === 0
        : isStale(group, policy, version - lag);
    if (isTooOld) return { group, isTooOld, isLearnt: false };
    return { group: young, isTooOld, isLearnt: isLearntFrom(plan, policy, young, version) };
  }

  /** Opens groups up to the capacity. Ids and contents follow from the position alone, so that a resumed run opens the same. */
  async #open(place: TakePlace): Promise<void> {
    const { plan, lag, stage, stageName, learner, environments, rollouts, store } = this.#parts;
    this.#outstanding ??= sumOf(await store.buffer(learner));
    const free = (lag + 1) * plan.groups - this.#outstanding;
    for (let i = 0; i < free; i++) {
      const number = this.#opened + 1;
      const draw = this.#order.take(1).find(({ tasks }) => tasks.length > 0);
      if (draw === undefined) return;
      const { environment, tasks } = draw;
      const label = groupLabel({ stage, name: plan.name, take: number, refill: undefined }, environments, environment);
      const at = { environment, label, tasks, occurrences: [0], groupSize: plan.groupSize, versions: {} };
      const request = stageRequest(this.#parts, at);
      const cohort: Cohort = {
        id: `${label}/0`,
        stage: stageName,
        learner,
        step: 0,
        refill: 0,
        place: [environment, 0],
        environment: request.environment.id,
        runStep: this.#usualStep(place, number),
        versions: {},
        checksum: null,
        groups: await rollouts.groupsOf(request),
      };
      await store.open(cohort);
      this.#opened = number;
      this.#outstanding++;
    }
    if (free > 0) this.#changed();
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
        limit: concurrency,
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

function sumOf({ open, leased, ready }: Awaited<ReturnType<EpisodeStore["buffer"]>>): number {
  return open + leased + ready;
}
