import ivm from "isolated-vm";
import { isolateSnapshots } from "./snapshot.ts";

const MEGABYTE = 1024 * 1024;
/** Smallest limit that isolated-vm accepts. */
const SMALLEST_HEAP_MB = 8;
/** Heap limit of the tests' isolate; their code is trusted. */
const CHECKER_HEAP_MB = 256;
/** Number of contexts per checker isolate: old contexts are garbage, and a new isolate costs less than collecting them. */
const CHECKER_CONTEXTS = 32;

/** Makes the isolates of this process. */
export class Isolates {
  readonly #snapshots = isolateSnapshots();
  #checker: ivm.Isolate | undefined;
  #checkerContexts = 0;

  /** Makes an isolate for a submission, which the caller disposes. `showsValues`: the submission probably prints objects. */
  runner(memoryBytes: number, showsValues: boolean): ivm.Isolate {
    const memoryLimit = Math.max(SMALLEST_HEAP_MB, Math.floor(memoryBytes / MEGABYTE));
    return new ivm.Isolate({ snapshot: showsValues ? this.#snapshots.showing : this.#snapshots.silent, memoryLimit });
  }

  /** Returns the isolate for tests, in which only tests run, each suite in its own context. The caller must not dispose it. */
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
