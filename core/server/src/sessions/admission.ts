import { MrlmError } from "@mrlm/spec";

/** Limits of {@link Admission}. */
export interface AdmissionLimits {
  readonly places: number;
  readonly queue: number;
  readonly queueMs: number;
}

interface Waiting {
  readonly enter: () => void;
}

/** Limited number of places with a bounded queue, in order of arrival. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #queue = new Set<Waiting>();
  #taken = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Takes a place. Rejects with RESOURCE_EXHAUSTED when the queue is full or the wait too long, and with the reason of an aborted signal. */
  async enter(signal: AbortSignal): Promise<void> {
    const { places, queue, queueMs } = this.#limits;
    signal.throwIfAborted();
    if (this.#taken < places) {
      this.#taken++;
      return;
    }
    if (this.#queue.size >= queue) throw this.#full(`and ${this.#queue.size} more wait`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { enter: resolve };
    this.#queue.add(waiting);
    const timer = setTimeout(() => reject(this.#full(`and none became free within ${queueMs} ms`)), queueMs);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#queue.delete(waiting);
    }
  }

  /** Frees a place, for the first in the queue if there is one. */
  leave(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#taken--;
      return;
    }
    this.#queue.delete(next);
    next.enter();
  }

  #full(detail: string): MrlmError {
    const { places, queueMs } = this.#limits;
    return new MrlmError("RESOURCE_EXHAUSTED", `The server holds its maximum of ${places} sessions, ${detail}.`, {
      retryDelayMs: Math.min(Math.max(100, queueMs), 5_000),
    });
  }
}
