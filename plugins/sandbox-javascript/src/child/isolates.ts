import ivm from "isolated-vm";
import { isolateSnapshots } from "./snapshot.ts";

const MEGABYTE = 1024 * 1024;
/** isolated-vm takes no less. */
const SMALLEST_HEAP_MB = 8;
/** Of the tests' isolate; their code is trusted. */
const CHECKER_HEAP_MB = 256;
/** Contexts that a checker's isolate gets: those of earlier tests are garbage, and a new isolate costs less than collecting them. */
const CHECKER_CONTEXTS = 32;

/** Makes the isolates of this process. */
export class Isolates {
  readonly #snapshots = isolateSnapshots();
  #checker: ivm.Isolate | undefined;
  #checkerContexts = 0;

  /** A new isolate for a submission; it belongs to the caller. `showsValues`: it is likely to show values that are no plain text. */
  runner(memoryBytes: number, showsValues: boolean): ivm.Isolate {
    const memoryLimit = Math.max(SMALLEST_HEAP_MB, Math.floor(memoryBytes / MEGABYTE));
    return new ivm.Isolate({ snapshot: showsValues ? this.#snapshots.showing : this.#snapshots.silent, memoryLimit });
  }

  /** The isolate for tests: it has run no code but tests', each in a context of its own. It stays ours. */
  checker(): ivm.Isolate {
    if (this.#checker === undefined || this.#checker.isDisposed || this.#checkerContexts >= CHECKER_CONTEXTS) {
      if (this.#checker?.isDisposed === false) this.#checker.dispose();
      this.#checker = new ivm.Isolate({ snapshot: this.#snapshots.checker, memoryLimit: CHECKER_HEAP_MB });
      this.#checkerContexts = 0;
    }
    this.#checkerContexts += 1;
    return this.#checker;
  }
}
