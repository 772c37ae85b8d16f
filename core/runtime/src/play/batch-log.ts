import {
  type Cohort,
  type EpisodeStore,
  type LearnerId,
  type Lease,
  MrlmError,
  type TakenBatch,
  type TakePosition,
  type TakeRecord,
  type TrajectoryGroup,
} from "@mrlm/spec";

/** Name of the only player of a run. */
const WORKER = "trainer";
/** The commit of an expired lease is accepted, as no other process leases cohorts of a run. */
const LEASE_MS = 60_000;

/** Leases of this process that no learner has used yet, by id of the cohort: those of a later stage outlive the learner that met them. */
const held = new WeakMap<EpisodeStore, Map<string, Lease>>();

/** Groups of a part of a batch, and the seconds in which episodes were played for it. */
export interface PlayedBatch extends TakenBatch {
  readonly playedSeconds: number;
}

/** Batches of one learner in the episode store. What the store has logged, or what was committed for it, is not played again. */
export class BatchLog {
  readonly #store: EpisodeStore;
  readonly #learner: LearnerId;
  readonly #leases: Map<string, Lease>;

  constructor(store: EpisodeStore, learner: LearnerId) {
    this.#store = store;
    this.#learner = learner;
    this.#leases = held.get(store) ?? new Map();
    held.set(store, this.#leases);
  }

  /**
   * Logs and returns the groups of some cohorts. A batch that other weights played is abandoned with all later ones, and played anew.
   * @param play yields the groups of a cohort
   */
  async take(
    at: TakePosition,
    cohorts: readonly Cohort[],
    record: TakeRecord,
    play: (cohort: Cohort) => AsyncIterable<TrajectoryGroup>,
  ): Promise<PlayedBatch> {
    const count = cohorts.reduce((sum, { groups }) => sum + groups.length, 0);
    const rule = { from: "cohorts", checksum: cohorts[0]?.checksum ?? null } as const;
    const logged = await this.#store.take(this.#learner, at, count, rule, record);
    if (typeof logged !== "string") return { ...logged, playedSeconds: 0 };
    if (logged === "outdated") await this.#abandon(at.step);
    let playedSeconds = 0;
    for (const cohort of cohorts) {
      const lease = await this.#lease(cohort);
      // A process that was killed has committed it.
      if (lease === undefined) continue;
      playedSeconds += await this.#commit(lease, play(cohort));
    }
    const taken = await this.#store.take(this.#learner, at, count, rule, record);
    if (typeof taken === "string") throw lost(`${this.#learner}/${at.step}/${at.refill}`, `is ${taken} after its play`);
    return { ...taken, playedSeconds };
  }

  /** Commits groups while later ones are played. Returns the seconds of the play. */
  async #commit(lease: Lease, play: AsyncIterable<TrajectoryGroup>): Promise<number> {
    const began = performance.now();
    let waiting: TrajectoryGroup[] = [];
    let writing: Promise<void> | undefined;
    let failure: { readonly error: unknown } | undefined;
    const write = async (isLast: boolean): Promise<void> => {
      const groups = waiting;
      waiting = [];
      if ((await this.#store.commit(lease, groups, { isLast })) === "late")
        throw lost(lease.cohort.id, "was leased by another process");
    };
    for await (const group of play) {
      // The last group waits for the commit that makes the cohort visible.
      if (waiting.length > 0)
        writing ??= write(false)
          .catch((error: unknown) => void (failure ??= { error }))
          .finally(() => (writing = undefined));
      waiting.push(group);
      if (failure !== undefined) throw failure.error;
    }
    const seconds = (performance.now() - began) / 1000;
    await writing;
    if (failure !== undefined) throw failure.error;
    await write(true);
    return seconds;
  }

  /** Opens a cohort and leases it; `undefined` for a committed one. */
  async #lease(cohort: Cohort): Promise<Lease | undefined> {
    await this.#open(cohort);
    // Cohorts of a process that was killed are leased on the way, where they were opened earlier.
    while (!this.#leases.has(cohort.id)) {
      const [lease] = await this.#store.lease(WORKER, 1, LEASE_MS);
      if (lease === undefined) return undefined;
      this.#leases.set(lease.cohort.id, lease);
    }
    const lease = this.#leases.get(cohort.id);
    this.#leases.delete(cohort.id);
    return lease;
  }

  /** Publications count up with evaluations and checkpoints, whose intervals a resumed run may change: equal weights may have another version. */
  async #open(cohort: Cohort): Promise<void> {
    try {
      await this.#store.open(cohort);
    } catch (error) {
      if (!MrlmError.hasCode(error, "STORE_CONFLICT") || cohort.refill > 0) throw error;
      await this.#abandon(cohort.step);
      await this.#store.open(cohort);
    }
  }

  /** A lease of an abandoned cohort commits nothing to the one that is opened in its place. */
  async #abandon(fromStep: number): Promise<void> {
    await this.#store.abandon(this.#learner, fromStep);
    for (const [id, { cohort }] of this.#leases)
      if (cohort.learner === this.#learner && cohort.step >= fromStep) this.#leases.delete(id);
  }
}

function lost(what: string, how: string): MrlmError {
  return new MrlmError("STORE_CONFLICT", `Batch or cohort ${what} ${how}.`, {
    hint: "Another process writes to the store of this run. End it, then resume the run.",
  });
}
