import { type ModelId, MrlmError, type Segment, type TrajectoryGroup } from "@mrlm/spec";
import type { LearnerId, TakenBatch, TakePosition, TakeRule } from "@mrlm/spec/host";
import { BatchTable, type LoggedGroup } from "./batch-table.ts";
import { EpisodeRows } from "./episode-rows.ts";
import { assertMeta, assertRun, readMeta } from "./store-meta.ts";
import { ReadStore } from "./open-to-read.ts";
import type { StorePlace } from "./store-place.ts";

/** Publication of weights that a run has recorded. */
export interface RecordedWeights {
  readonly policy: ModelId;
  readonly version: number;
  /** Completed steps of the run. */
  readonly step: number;
  readonly checksum: string | null;
  /** Directory or address of the weights; `null` where they were not kept. */
  readonly location: string | null;
  /** Number of the process that published them; later ones have higher numbers. */
  readonly incarnation: number;
}

/** Reads the batches and publications of a run, and changes no row. */
export class LoggedBatches {
  readonly #store: ReadStore;
  readonly #batches: BatchTable;

  /**
   * Throws STORE_INVALID for a file that is no store, of another schema or of another run; STORE_FAILED for one that cannot be read.
   * @param run id of the run
   */
  constructor(place: StorePlace, run: string) {
    this.#store = new ReadStore(place);
    try {
      const { path, database } = this.#store;
      this.#batches = this.#store.read(() => {
        assertRun(assertMeta(readMeta(database), path), path, run);
        return new BatchTable(database, new EpisodeRows(database));
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Returns a logged batch; `undefined` where the position is not in the log, `outdated` where weights of another checksum played it. Throws DATA_INVALID
   * where its tokens were deleted, STORE_INVALID where it is damaged, STORE_CONFLICT where it was logged by another rule.
   */
  take(learner: LearnerId, at: TakePosition, count: number, rule: TakeRule): TakenBatch | "outdated" | undefined {
    const batch = this.#store.read(() => this.#batches.logged(learner, at, count, rule));
    if (batch === undefined || batch === "outdated") return batch;
    const fault = (what: string, cause?: unknown): MrlmError =>
      new MrlmError(
        "STORE_INVALID",
        `Batch ${at.step} of learner ${learner} (step ${batch.record.runStep} of the run) in ${this.#store.path} is damaged: ${what}.`,
        { hint: "Restore the store from a copy.", cause },
      );
    if (batch.groups.length !== count) throw fault(`it has ${batch.groups.length} groups instead of ${count}`);
    return { ...batch, groups: batch.groups.map((group) => this.#read(group, fault)) };
  }

  /** Returns all publications, in their order. */
  weights(): RecordedWeights[] {
    return this.#store.read(() =>
      this.#store.database
        .prepare("SELECT policy, version, step, checksum, location, incarnation FROM weights ORDER BY key")
        .all(),
    ) as unknown as RecordedWeights[];
  }

  /** Returns the highest step of the run that has a logged batch; 0 where there is none. */
  lastStep(): number {
    const sql = `SELECT MAX(takes.run_step) AS last FROM takes JOIN steps ON steps.key = takes.step WHERE steps.state <> 'abandoned'`;
    return Number(this.#store.read(() => this.#store.database.prepare(sql).get())?.["last"] ?? 0);
  }

  close(): void {
    this.#store.close();
  }

  #read({ key, id }: LoggedGroup, fault: (what: string, cause?: unknown) => MrlmError): TrajectoryGroup {
    const group = readOr(
      () => this.#store.read(() => this.#batches.read(key)),
      (error) => fault(`group ${id} cannot be decoded (${String(error)})`, error),
    );
    for (const { id: episode, agents } of group.trajectories)
      for (const { segments } of Object.values(agents))
        if (!segments.every(isWhole)) throw fault(`the tokens of episode ${episode} are cut`);
    return group;
  }
}

function readOr<T>(work: () => T, fault: (error: unknown) => MrlmError): T {
  try {
    return work();
  } catch (error) {
    throw MrlmError.isInstance(error) ? error : fault(error);
  }
}

/** Whether a segment has an entry for each of its tokens in each array. */
function isWhole({ tokens, logprobs, mask, versions }: Segment): boolean {
  return [logprobs, mask, versions].every(({ length }) => length === tokens.length);
}
