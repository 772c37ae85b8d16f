import type { Cohort, EpisodeStore, Lease, TakenBatch, TrajectoryGroup } from "@mrlm/spec";
import { type PlayClock, stopped, systemClock } from "./play-clock.ts";

/** Time for which a cohort is leased, in milliseconds. The lease is renewed three times in it. */
export const LEASE_MS = 15_000;

/** Parts of a worker. */
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
