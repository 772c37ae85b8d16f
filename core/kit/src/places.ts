import type { ToolCallOptions } from "@mrlm/spec";

/** Waits in a queue. The time counts against no limit of a call. */
export type Queued = NonNullable<ToolCallOptions["queued"]>;

/** Waits without a call whose time could be counted. */
export const unqueued: Queued = (wait) => wait();

/** Limit of how many hold a place at the same time. Others wait in the order of their calls. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a place. Returns the function that gives it back; later calls of it have no effect. Rejects with the signal's reason when it is aborted. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }

  /** Works in a place. The time in which a call waits for it counts against no limit of the call. Rejects as {@link take} does, and as the work does. */
  async hold<T>({ signal, queued = unqueued }: ToolCallOptions, work: () => Promise<T>): Promise<T> {
    const giveBack = await queued(() => this.take(signal));
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    const onAbort = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(signal.reason as Error);
    };
    this.#waiting.push(enter);
    signal.addEventListener("abort", onAbort, { once: true });
    return promise;
  }
}
