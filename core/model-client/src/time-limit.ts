import type { CompletionOptions } from "./model-client.ts";

/** Time that several requests of one call have together. Waits for places count only where the caller's own limit counts them. */
export class TimeLimit {
  readonly #options: CompletionOptions;
  readonly #start = performance.now();
  #queuedMs = 0;

  constructor(options: CompletionOptions) {
    this.#options = options;
  }

  /** Returns the options of the next request: the time that is left. */
  rest(): CompletionOptions {
    const { signal, deadlineMs, queued } = this.#options;
    const left =
      deadlineMs === undefined ? {} : { deadlineMs: deadlineMs - (performance.now() - this.#start - this.#queuedMs) };
    if (queued === undefined) return { signal, ...left };
    const counted = async <T>(wait: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      try {
        return await queued(wait);
      } finally {
        this.#queuedMs += performance.now() - began;
      }
    };
    return { signal, ...left, queued: counted };
  }
}
