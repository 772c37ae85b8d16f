import { type CohortWorker, pause, type PlayedCohort } from "./cohort-worker.ts";

/** Options of {@link playLeases}. */
export interface PlayLeasesOptions {
  /** Number of cohorts that are played at the same time. */
  readonly limit: number;
  /** Aborted to stop. Cohorts under way are not committed. */
  readonly signal: AbortSignal;
  /** Resolves when there may be more to play; the store is looked at after a while in any case. */
  wake?(): Promise<void>;
  onPlayed?(played: PlayedCohort): void;
  /** Receives seconds in which there was nothing to play. */
  onIdle?(seconds: number): void;
}

/** Leases cohorts and plays them until it is stopped. Rejects with the first error of a play, after the others have ended. */
export async function playLeases(
  worker: CohortWorker,
  { limit, signal, wake, onPlayed, onIdle }: PlayLeasesOptions,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const running = new Set<Promise<void>>();
  const play = async (lease: Parameters<CohortWorker["play"]>[0]): Promise<void> => {
    try {
      onPlayed?.(await worker.play(lease, either));
    } catch (error) {
      failed.abort(error);
    }
  };
  while (!either.aborted) {
    const woken = wake?.();
    const leases = running.size < limit ? await worker.lease(limit - running.size) : [];
    for (const lease of leases) {
      const one = play(lease).finally(() => running.delete(one));
      running.add(one);
    }
    if (leases.length > 0) continue;
    const [since, isIdle] = [performance.now(), running.size === 0];
    await Promise.race([...(woken === undefined ? [] : [woken]), pause(either).catch(() => undefined)]);
    if (isIdle) onIdle?.((performance.now() - since) / 1000);
  }
  await Promise.all(running);
  if (!signal.aborted) throw failed.signal.reason;
}
