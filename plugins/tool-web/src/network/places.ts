import type { ToolCallOptions } from "@mrlm/spec";
import { unqueued } from "../queued.ts";

/** Limit of the number of concurrent works. Others wait in the order of their calls. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Works in a place. Rejects with the reason of the signal while it waits. */
  async hold<T>({ signal, queued = unqueued }: ToolCallOptions, work: () => Promise<T>): Promise<T> {
    const giveBack = await queued(() => this.#take(signal));
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  /** Waits for a place. The caller gives it back by the returned function. */
  async #take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = (): void => {
        const index = this.#waiting.indexOf(resolve);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(resolve);
      await promise.finally(() => signal.removeEventListener("abort", abort));
    }
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
