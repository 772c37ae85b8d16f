import { setTimeout } from "node:timers/promises";
import { type Cohort, type EpisodeStore, type Lease, MrlmError, type TrajectoryGroup } from "@mrlm/spec";

/** Time for which a cohort is leased, in milliseconds. The lease is renewed three times in it. */
export const LEASE_MS = 15_000;

/** Time between two looks for what other processes have opened or played, in milliseconds. */
const POLL_MS = 50;

/** Waits until the store is looked at again. Rejects with CANCELLED after a stop. */
export async function pause(signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(POLL_MS, undefined, { signal });
  } catch {
    throw stopped(signal);
  }
}

function stopped({ reason }: AbortSignal): MrlmError {
  return new MrlmError("CANCELLED", "The play was stopped.", { cause: reason });
}

/** Parts of a worker. */
export interface CohortWorkerParts {
  readonly store: EpisodeStore;
  /** Name of the worker, unique among those of the store. */
  readonly name: string;
  /** Yields the groups of a cohort. */
  play(cohort: Cohort, signal: AbortSignal): AsyncIterable<TrajectoryGroup>;
  /** Default: {@link LEASE_MS}. */
  readonly leaseMs?: number;
}

/** A cohort that a worker has played. `late`: another worker had leased it, and nothing was kept. */
export interface PlayedCohort {
  readonly cohort: Cohort;
  readonly result: "accepted" | "late";
  /** Seconds of the play. */
  readonly seconds: number;
}

/** Plays cohorts of an episode store under leases. */
export class CohortWorker {
  readonly #parts: CohortWorkerParts;

  constructor(parts: CohortWorkerParts) {
    this.#parts = parts;
  }

  /** Leases the oldest cohorts that wait, at most `limit`. The caller plays each of them at once. */
  lease(limit: number): Promise<readonly Lease[]> {
    const { store, name, leaseMs = LEASE_MS } = this.#parts;
    return store.lease(name, limit, leaseMs);
  }

  /** Plays a leased cohort and commits it. */
  async play(lease: Lease, signal: AbortSignal): Promise<PlayedCohort> {
    const { store, leaseMs = LEASE_MS } = this.#parts;
    const lost = new AbortController();
    const renewal = setInterval(() => {
      store.renew([lease], leaseMs).then(
        (gone) => {
          if (gone.length > 0) lost.abort();
        },
        (error: unknown) => lost.abort(error),
      );
    }, leaseMs / 3);
    try {
      return { cohort: lease.cohort, ...(await this.#play(lease, AbortSignal.any([signal, lost.signal]))) };
    } catch (error) {
      if (!lost.signal.aborted || signal.aborted) throw error;
      return { cohort: lease.cohort, result: "late", seconds: 0 };
    } finally {
      clearInterval(renewal);
    }
  }

  /** Commits groups while later ones are played. */
  async #play(lease: Lease, signal: AbortSignal): Promise<Omit<PlayedCohort, "cohort">> {
    const { store, play } = this.#parts;
    const began = performance.now();
    let waiting: TrajectoryGroup[] = [];
    let writing: Promise<void> | undefined;
    let failure: { readonly error: unknown } | undefined;
    let isLate = false;
    const write = async (isLast: boolean): Promise<void> => {
      const groups = waiting;
      waiting = [];
      if ((await store.commit(lease, groups, { isLast })) === "late") isLate = true;
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
    const seconds = (performance.now() - began) / 1000;
    await writing;
    if (failure !== undefined) throw failure.error;
    if (signal.aborted) throw stopped(signal);
    if (!isLate) await write(true);
    return { result: isLate ? "late" : "accepted", seconds };
  }
}
