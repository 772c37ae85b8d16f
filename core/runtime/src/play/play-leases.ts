import type { CohortWorker, PlayedCohort } from "./cohort-worker.ts";
import { pause } from "./play-clock.ts";

/** Options of {@link playLeases}. */
export interface PlayLeasesOptions<T> {
  /** Returns the number of cohorts that may be played at the same time now. */
  limit(): number;
  /** Aborted to stop. Cohorts under way are not committed. */
  readonly signal: AbortSignal;
  /** Resolves when there may be more to play; the store is looked at after a while in any case. */
  wake?(): Promise<void>;
  /** Called while there is nothing to play and nothing is played. The play ends with its result, unless that is `undefined`. */
  until?(): Promise<T | undefined>;
  onPlayed?(played: PlayedCohort): void;
  /** Receives seconds in which there was nothing to play. */
  onIdle?(seconds: number): void;
}

/**
 * Leases cohorts and plays them until `until` has a result, or until it is stopped: `undefined`. A place is filled again as soon as its cohort was played.
 * Rejects with the first error of a play, after the others have ended.
 */
export async function playLeases<T = never>(
  worker: CohortWorker,
  { limit, signal, wake, until, onPlayed, onIdle }: PlayLeasesOptions<T>,
): Promise<T | undefined> {
  const { clock } = worker;
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
    const free = limit() - running.size;
    const leases = free > 0 ? await worker.lease(free) : [];
    for (const lease of leases) {
      const one = play(lease).finally(() => running.delete(one));
      running.add(one);
    }
    if (leases.length > 0) continue;
    const [since, isIdle] = [clock.now(), running.size === 0];
    const result = isIdle ? await until?.() : undefined;
    if (result !== undefined) return result;
    await Promise.race([
      ...running,
      ...(woken === undefined ? [] : [woken]),
      pause(clock, either).catch(() => undefined),
    ]);
    if (isIdle) onIdle?.((clock.now() - since) / 1000);
  }
  await Promise.all(running);
  if (!signal.aborted) throw failed.signal.reason;
  return undefined;
}
