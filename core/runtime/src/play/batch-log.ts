import type { Cohort, EpisodeStore, LearnerId, TakenBatch, TakePosition, TakeRecord } from "@mrlm/spec/host";
import { MrlmError } from "@mrlm/spec";
import { type CohortWorker, playLeases, type TakeArguments } from "./cohort-worker.ts";
import { stopped } from "./play-clock.ts";

/** Groups of a part of a batch, and the seconds in which this process played episodes for it. */
export interface PlayedBatch extends TakenBatch {
  readonly playedSeconds: number;
}

/** Batches of one learner in the episode store. What the store has logged, or what was committed for it, is not played again. */
export class BatchLog {
  readonly #store: EpisodeStore;
  readonly #learner: LearnerId;
  readonly #worker: CohortWorker;
  readonly #parallel: () => number;

  /** @param parallel returns the number of cohorts that this process may play at the same time now */
  constructor(store: EpisodeStore, learner: LearnerId, worker: CohortWorker, parallel: () => number) {
    this.#store = store;
    this.#learner = learner;
    this.#worker = worker;
    this.#parallel = parallel;
  }

  /**
   * Logs and returns the groups of some cohorts, after this process and others have played them. A batch that other weights played is abandoned with all
   * later ones, and played anew.
   * @param at `appliedBefore`: nothing more is learnt from batches before this step
   * @param mayPlay false: the weights of these cohorts are gone. Rejects with STORE_INVALID where the store does not have their episodes
   */
  async take(
    { at, appliedBefore }: { readonly at: TakePosition; readonly appliedBefore: number },
    cohorts: readonly Cohort[],
    record: TakeRecord,
    signal: AbortSignal,
    mayPlay = true,
  ): Promise<PlayedBatch> {
    const count = cohorts.reduce((sum, { groups }) => sum + groups.length, 0);
    const rule = { from: "cohorts", checksum: cohorts[0]?.checksum ?? null } as const;
    const take: TakeArguments = [this.#learner, at, count, rule, record, appliedBefore];
    const logged = await this.#store.take(...take);
    if (typeof logged !== "string") return { ...logged, playedSeconds: 0 };
    if (!mayPlay) throw gone(`${this.#learner}/${at.step}/${at.refill}`);
    if (logged === "outdated") await this.#store.abandon(this.#learner, at.step);
    for (const cohort of cohorts) await this.#open(cohort);
    let playedSeconds = 0;
    const taken = await playLeases(this.#worker, {
      limit: this.#parallel,
      signal,
      take,
      onPlayed: ({ seconds }) => void (playedSeconds += seconds),
    });
    if (taken === undefined) throw stopped(signal);
    if (taken === "outdated") throw outdated(`${this.#learner}/${at.step}/${at.refill}`);
    return { ...taken, playedSeconds };
  }

  /** Publications count up with evaluations and checkpoints, whose intervals a resumed run may change: equal weights may have another version. */
  async #open(cohort: Cohort): Promise<void> {
    try {
      await this.#store.open(cohort);
    } catch (error) {
      if (!MrlmError.hasCode(error, "STORE_CONFLICT") || cohort.refill > 0) throw error;
      await this.#store.abandon(this.#learner, cohort.step);
      await this.#store.open(cohort);
    }
  }
}

function outdated(what: string): MrlmError {
  return new MrlmError("STORE_CONFLICT", `Batch ${what} was played by weights of another checksum.`, {
    hint: "Another process writes to the store of this run. End it, then resume the run.",
  });
}

function gone(what: string): MrlmError {
  return new MrlmError(
    "STORE_INVALID",
    `The store lacks batch ${what}, which was played before the checkpoint by weights that no longer exist.`,
    { hint: "Restore the store from a copy, or resume from an earlier checkpoint." },
  );
}
