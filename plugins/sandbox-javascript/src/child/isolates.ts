import ivm from "isolated-vm";
import { guestSnapshots } from "./snapshot.ts";

const MEGABYTE = 1024 * 1024;
/** isolated-vm takes no less. */
const SMALLEST_HEAP_MB = 8;
/** Of the tests' isolate; their code is trusted. */
const JUDGE_HEAP_MB = 256;
/** Contexts that a judge's isolate gets: those of earlier tests are garbage, and a new isolate costs less than collecting them. */
const JUDGE_CONTEXTS = 32;

/** Makes the isolates of this process. */
export class Isolates {
  readonly #snapshots = guestSnapshots();
  #judge: ivm.Isolate | undefined;
  #judgeContexts = 0;

  /** A new isolate for a submission; it belongs to the caller. `showsValues`: it is likely to show values that are no plain text. */
  player(memoryBytes: number, showsValues: boolean): ivm.Isolate {
    const memoryLimit = Math.max(SMALLEST_HEAP_MB, Math.floor(memoryBytes / MEGABYTE));
    return new ivm.Isolate({ snapshot: showsValues ? this.#snapshots.showing : this.#snapshots.silent, memoryLimit });
  }

  /** The isolate for tests: it has run no code but tests', each in a context of its own. It stays ours. */
  judge(): ivm.Isolate {
    if (this.#judge === undefined || this.#judge.isDisposed || this.#judgeContexts >= JUDGE_CONTEXTS) {
      if (this.#judge?.isDisposed === false) this.#judge.dispose();
      this.#judge = new ivm.Isolate({ snapshot: this.#snapshots.judge, memoryLimit: JUDGE_HEAP_MB });
      this.#judgeContexts = 0;
    }
    this.#judgeContexts += 1;
    return this.#judge;
  }
}
