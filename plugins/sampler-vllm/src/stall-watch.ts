import { setTimeout as delay } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";

/** Parts of a {@link StallWatch}. */
export interface StallWatchParts {
  readonly url: string;
  /** Longest time without a new token while sequences run, in milliseconds. */
  readonly limitMs: number;
  /** Returns the number of tokens that the server has drawn. */
  countTokens(timeoutMs: number): Promise<number>;
  /** Whether sequences wait for an update. */
  isUpdating(): boolean;
  onStall(): void;
}

/** Looks without a new token after which a server has stalled. */
const LOOKS = 4;

/**
 * Finds a server that runs sequences and draws no token. A single sequence may wait for its turn, so the tokens of all are counted, by the server: it then need not
 * stream them.
 */
export class StallWatch {
  readonly #parts: StallWatchParts;
  /** Looks without a new token since the beginning of each running sequence. */
  readonly #running = new Map<AbortController, number>();
  #isWatching = false;

  constructor(parts: StallWatchParts) {
    this.#parts = parts;
  }

  /** Watches a sequence until `end`, which states whether the server has drawn all of it. The signal is aborted with SAMPLER_UNAVAILABLE when the server stalls. */
  begin(): { readonly signal: AbortSignal; end(isComplete: boolean): void } {
    const stalled = new AbortController();
    this.#running.set(stalled, 0);
    if (!this.#isWatching) void this.#watch();
    return {
      signal: stalled.signal,
      end: (isComplete) => {
        this.#running.delete(stalled);
        // The count of tokens may be late, or missing.
        if (isComplete) for (const sequence of this.#running.keys()) this.#running.set(sequence, 0);
      },
    };
  }

  async #watch(): Promise<void> {
    const { limitMs, countTokens, isUpdating } = this.#parts;
    this.#isWatching = true;
    let last: number | undefined;
    while (this.#running.size > 0) {
      await delay(limitMs / LOOKS, undefined, { ref: false });
      // A server that does not answer makes no progress.
      const count = await countTokens(limitMs / LOOKS).catch(() => last);
      const hasProgress = count !== last || isUpdating();
      last = count;
      // Looks are counted, and not seconds: this process may have been stopped meanwhile.
      for (const [sequence, looks] of this.#running) this.#running.set(sequence, hasProgress ? 0 : looks + 1);
      if (Math.max(...this.#running.values()) >= LOOKS) this.#stall();
    }
    this.#isWatching = false;
  }

  #stall(): void {
    const { url, limitMs, onStall } = this.#parts;
    const error = new MrlmError(
      "SAMPLER_UNAVAILABLE",
      `vLLM at ${url} has drawn no token for ${limitMs / 1000} s, while ${this.#running.size} sequences ran.`,
    );
    onStall();
    for (const stalled of this.#running.keys()) stalled.abort(error);
    this.#running.clear();
  }
}
