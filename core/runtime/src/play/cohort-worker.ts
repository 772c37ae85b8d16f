import type { Cohort, EpisodeStore, Lease, TakenBatch } from "@mrlm/spec/host";
import type { TrajectoryGroup } from "@mrlm/spec";
import { pause, type PlayClock, stopped, systemClock } from "./play-clock.ts";

/** Time for which a cohort is leased, in milliseconds. The lease is renewed three times in it. */
export const LEASE_MS = 15_000;

export interface CohortWorkerParts {
  readonly store: EpisodeStore;
  /** Name of the worker, unique among those of the store. */
  readonly name: string;
  /** Yields the groups of a cohort. */
  play(cohort: Cohort, signal: AbortSignal): AsyncIterable<TrajectoryGroup>;
  /** Default: {@link LEASE_MS}. */
  readonly leaseMs?: number;
  /** Default: that of the system. */
  readonly clock?: PlayClock;
}

/** A cohort that a worker has played. `late`: another worker had leased it, and nothing was kept. */
export interface PlayedCohort {
  readonly cohort: Cohort;
  readonly result: "accepted" | "late";
  /** Seconds of the play. */
  readonly seconds: number;
  /** The batch that was taken with the commit. */
  readonly batch?: TakenBatch;
}

/** Batch that a store is asked for. */
export type TakeArguments = Parameters<EpisodeStore["take"]>;

/** A lease has passed to another worker. */
class LeaseLost extends Error {}

/** Plays cohorts of an episode store under leases. */
export class CohortWorker {
  readonly clock: PlayClock;
  readonly #parts: CohortWorkerParts;

  constructor(parts: CohortWorkerParts) {
    this.#parts = parts;
    this.clock = parts.clock ?? systemClock;
  }

  /** Leases the oldest cohorts that wait, at most `limit`. The caller plays each of them at once. */
  lease(limit: number): Promise<readonly Lease[]> {
    const { store, name, leaseMs = LEASE_MS } = this.#parts;
    return store.lease(name, limit, leaseMs);
  }

  take(batch: TakeArguments): ReturnType<EpisodeStore["take"]> {
    return this.#parts.store.take(...batch);
  }

  /**
   * Plays a leased cohort and commits it. Rejects with the error of the play, or of the store.
   * @param take batch that is taken with the commit, if no other process plays a cohort of it
   */
  async play(lease: Lease, signal: AbortSignal, take?: TakeArguments): Promise<PlayedCohort> {
    const lost = new AbortController();
    const ended = new AbortController();
    void this.#renew(lease, ended.signal).catch((error: unknown) => lost.abort(error));
    try {
      return { cohort: lease.cohort, ...(await this.#play(lease, AbortSignal.any([signal, lost.signal]), take)) };
    } catch (error) {
      if (!lost.signal.aborted || signal.aborted) throw error;
      // The lease may still be ours where the store does not answer.
      if (!(lost.signal.reason instanceof LeaseLost)) throw lost.signal.reason;
      return { cohort: lease.cohort, result: "late", seconds: 0 };
    } finally {
      ended.abort();
    }
  }

  /** Renews a lease until the play ends. Rejects with LeaseLost where another worker has it, and with the error of the store. */
  async #renew(lease: Lease, ended: AbortSignal): Promise<void> {
    const { store, leaseMs = LEASE_MS } = this.#parts;
    for (;;) {
      await this.clock.sleep(leaseMs / 3, ended);
      const [gone] = await store.renew([lease], leaseMs);
      if (gone !== undefined) throw new LeaseLost(`The lease of cohort ${gone} has passed to another worker.`);
    }
  }

  /** Commits groups while later ones are played. */
  async #play(lease: Lease, signal: AbortSignal, take?: TakeArguments): Promise<Omit<PlayedCohort, "cohort">> {
    const { store, play } = this.#parts;
    const began = this.clock.now();
    let waiting: TrajectoryGroup[] = [];
    let writing: Promise<void> | undefined;
    let failure: { readonly error: unknown } | undefined;
    let isLate = false;
    let batch: TakenBatch | undefined;
    const write = async (isLast: boolean): Promise<void> => {
      const groups = waiting;
      waiting = [];
      const committed = await store.commit(lease, groups, { isLast, ...(isLast && take && { take }) });
      if (committed === "late") isLate = true;
      else if (committed !== "accepted") batch = committed;
    };
    for await (const group of play(lease.cohort, signal)) {
      // The last group waits for the commit that makes the cohort visible.
      if (waiting.length > 0)
        writing ??= write(false)
          .catch((error: unknown) => void (failure ??= { error }))
          .finally(() => (writing = undefined));
      waiting.push(group);
      if (failure !== undefined) throw failure.error;
      if (isLate) break;
    }
    const seconds = (this.clock.now() - began) / 1000;
    await writing;
    if (failure !== undefined) throw failure.error;
    if (signal.aborted) throw stopped(signal);
    if (!isLate) await write(true);
    return { result: isLate ? "late" : "accepted", seconds, ...(batch && { batch }) };
  }
}

/** Options of {@link playLeases}. */
export interface PlayLeasesOptions {
  /** Returns the number of cohorts that may be played at the same time now. */
  limit(): number;
  /** Aborted to stop. Cohorts under way are not committed. */
  readonly signal: AbortSignal;
  /** Resolves when there may be more to play; the store is looked at after a while in any case. */
  wake?(): Promise<void>;
  /** Batch with which the play ends. It is taken with the last commit of this process, or after other processes have played their cohorts of it. */
  readonly take?: TakeArguments;
  onPlayed?(played: PlayedCohort): void;
  /** Receives seconds in which there was nothing to play. */
  onIdle?(seconds: number): void;
}

/**
 * Leases cohorts and plays them until the batch of `take` is taken, or until it is stopped: `undefined`. A place is filled again as soon as its cohort was played.
 * Rejects with the first error of a play, after the others have ended.
 */
export async function playLeases(
  worker: CohortWorker,
  { limit, signal, wake, take, onPlayed, onIdle }: PlayLeasesOptions,
): Promise<TakenBatch | "outdated" | undefined> {
  const { clock } = worker;
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = new Set<Promise<void>>();
  const taken: TakenBatch[] = [];
  const play = async (lease: Lease): Promise<void> => {
    try {
      const played = await worker.play(lease, either, take);
      if (played.batch !== undefined) taken.push(played.batch);
      onPlayed?.(played);
    } catch (error) {
      failed.abort(error);
    }
  };
  while (!either.aborted && taken.length === 0) {
    const woken = wake?.();
    const free = limit() - running.size;
    const leases = free > 0 ? await worker.lease(free) : [];
    for (const lease of leases) {
      const one = play(lease).finally(() => running.delete(one));
      running.add(one);
    }
    if (leases.length > 0) continue;
    const [since, isIdle] = [clock.now(), running.size === 0];
    const batch = isIdle && take !== undefined ? await worker.take(take) : "unready";
    if (batch !== "unready") return batch;
    await Promise.race([
      ...running,
      ...(woken === undefined ? [] : [woken]),
      pause(clock, either).catch(() => undefined),
    ]);
    if (isIdle) onIdle?.((clock.now() - since) / 1000);
  }
  await Promise.all(running);
  const [batch] = taken;
  if (batch === undefined && !signal.aborted) throw failed.signal.reason;
  return batch;
}
