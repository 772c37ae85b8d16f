import { MrlmError } from "@mrlm/spec";

/** How many may be in, and how many may wait for how long. */
export interface AdmissionLimits {
  readonly places: number;
  readonly queue: number;
  readonly queueMs: number;
}

interface Waiting {
  readonly enter: () => void;
}

/** Places, with a bounded queue before them, first come first served. */
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

  /** Takes a place. Rejects with RESOURCE_EXHAUSTED when the queue is full, or the wait too long, and when the signal is aborted. */
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

  /** Gives a place back, to the one who has waited longest if anyone has. */
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
