import type { TakenBatch } from "@mrlm/spec";
import type { CohortWorker, PlayedCohort, TakeArguments } from "./cohort-worker.ts";
import { pause } from "./play-clock.ts";

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
  const play = async (lease: Parameters<CohortWorker["play"]>[0]): Promise<void> => {
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
