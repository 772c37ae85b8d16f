import { basename, dirname, resolve } from "node:path";
import { idOfRun, RunDirectory, storePlaceOf } from "@mrlm/runtime";
import { MrlmError, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeStore } from "@mrlm/spec/host";
import { isPostgres, openEpisodeStore } from "@mrlm/store";
import type { Console } from "../console/console.ts";

/** Origin of the episodes that a command plays. */
export interface EpisodeOrigin {
  /** Path of the model. */
  readonly model: string;
  /** Directory of the run that the model belongs to. */
  readonly run: string | undefined;
  /** `--store`. */
  readonly store: string | undefined;
}

/** Adds the episodes of `mrlm collect` to an episode store. A fault is reported once, and the command continues. */
export class EpisodeRecord {
  readonly #console: Console;
  readonly #runStep: number;
  #store: EpisodeStore | undefined;
  #written: Promise<void> = Promise.resolve();

  private constructor(console: Console, origin: EpisodeOrigin, store: EpisodeStore | undefined) {
    this.#console = console;
    this.#runStep = stepOf(origin);
    this.#store = store;
  }

  /** Opens the store of `--store`, else that of the run; without either nothing is recorded. Rejects for `--store` only. */
  static async open(console: Console, origin: EpisodeOrigin): Promise<EpisodeRecord> {
    const { store, run } = origin;
    if (store !== undefined)
      return new EpisodeRecord(
        console,
        origin,
        await openEpisodeStore({
          ...storePlaceOf(isPostgres(store) ? store : resolve(store)),
          purpose: "collect",
          endsLeases: false,
        }),
      );
    try {
      return new EpisodeRecord(console, origin, run === undefined ? undefined : await openOfRun(run));
    } catch (error) {
      const record = new EpisodeRecord(console, origin, undefined);
      record.#report(error);
      return record;
    }
  }

  /** Adds groups after those of earlier calls. */
  add(stage: string, groups: readonly TrajectoryGroup[]): void {
    const environment = groups[0]?.trajectories[0]?.environment ?? "";
    const place = { runStep: this.#runStep, place: 0, environment, versions: {}, checksum: null };
    this.#written = this.#written
      .then(() => this.#store?.record({ purpose: "collect", stage, ...place, groups }))
      .catch((error: unknown) => this.#report(error));
  }

  /** Waits until everything is stored. */
  async close(): Promise<void> {
    await this.#written;
    await this.#store?.close().catch((error: unknown) => this.#report(error));
  }

  #report(fault: unknown): void {
    if (!MrlmError.isInstance(fault)) throw fault;
    this.#console.note(`note: the episodes are not added to an episode store. ${fault.message} ${fault.hint}`);
    const store = this.#store;
    this.#store = undefined;
    void store?.close().catch(() => undefined);
  }
}

async function openOfRun(path: string): Promise<EpisodeStore> {
  const run = RunDirectory.open(path);
  const id = idOfRun(run);
  if (id === undefined || !run.hasEpisodes)
    throw new MrlmError("STORE_INVALID", `The run ${run.path} has no episode store.`, {
      hint: "An earlier build wrote it, or the file was moved. Name another store: --store FILE.",
    });
  return openEpisodeStore({ ...run.store, run: id, purpose: "collect", endsLeases: false });
}

/** Step of the run whose weights the model has: its checkpoint's, else the last one of the run; 0 for another model. */
function stepOf({ model, run }: EpisodeOrigin): number {
  for (let path = resolve(model); dirname(path) !== path; path = dirname(path))
    if (basename(dirname(path)) === "checkpoints") return Number.parseInt(basename(path), 10) || 0;
  return run === undefined ? 0 : (RunDirectory.open(run).metrics.rows().at(-1)?.step ?? 0);
}
