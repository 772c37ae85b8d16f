import { statSync } from "node:fs";
import { isStore } from "@mrlm/store";
import type { FoundRun } from "./find-runs.ts";

/** Files whose change is a change of a run. */
const FILES = ["/run.json", "/metrics.jsonl", "/episodes.sqlite", "/episodes.sqlite-wal"];
/** The same of an episode store: the file itself and its log. */
const STORE_FILES = ["", "-wal"];
const INTERVAL_MS = 2_000;

/** Receives the ids of runs that changed, appeared or disappeared. */
export type ChangeListener = (runs: readonly string[]) => void;

/** Looks for changes of runs, while someone listens. It reads times and sizes of files alone, so that it costs a training run nothing. */
export class LiveChanges {
  readonly #runs: () => Iterable<FoundRun>;
  readonly #listeners = new Set<ChangeListener>();
  #states = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(runs: () => Iterable<FoundRun>) {
    this.#runs = runs;
  }

  /** @returns a function that ends the calls */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#states = this.#read();
      this.#timer = setInterval(() => this.#look(), INTERVAL_MS).unref();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #look(): void {
    const states = this.#read();
    const ids = new Set([...states.keys(), ...this.#states.keys()]);
    const changed = [...ids].filter((id) => states.get(id) !== this.#states.get(id));
    this.#states = states;
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
  }

  #read(): Map<string, string> {
    const states = new Map<string, string>();
    for (const { id, path } of this.#runs())
      states.set(
        id,
        (isStore(path) ? STORE_FILES : FILES)
          .map((suffix) => {
            const found = statSync(path + suffix, { throwIfNoEntry: false });
            return found === undefined ? "" : `${found.size} ${found.mtimeMs}`;
          })
          .join(),
      );
    return states;
  }
}
