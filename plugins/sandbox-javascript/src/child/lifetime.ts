import type { ChildResult } from "@mrlm/sandbox/child";
import { Ended } from "./ended.ts";

/** Difference between the first timer of a request and the later ones. */
const LATER_MS = 5;
/** Maximum number of timers of one request; after that only the end of the process stops an endless loop. */
const MAX_TIMERS = 1000;

/** Remaining time of a request, and its ending. */
export class Lifetime {
  readonly #deadline: number;
  #ended: Ended | undefined;
  #timers = 0;

  constructor(wallMs: number) {
    this.#deadline = performance.now() + wallMs;
  }

  /**
   * Returns the timeout for a timer of isolated-vm; 0 for none. A timer stays in the queue of a thread until it is due, even if its call has
   * ended, and a timer that is due before all others gets its own thread. A loop of `setImmediate` used memory for both up to the limit. So
   * the number of timers is limited, and the first timer of a request is due first.
   */
  timerMs(): number {
    this.#timers += 1;
    if (this.#timers > MAX_TIMERS) return 0;
    return this.leftMs + (this.#timers === 1 ? 0 : LATER_MS);
  }

  /** Remaining milliseconds, rounded up, at least 1. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#deadline - performance.now()));
  }

  /** Whether the deadline has passed, with a tolerance: timers of isolated-vm may fire slightly early. */
  get isOver(): boolean {
    return performance.now() >= this.#deadline - 2;
  }

  /** Ends the request with this result, unless it has ended before. The ending is kept here, because an error loses its class in an isolate. */
  end(result: ChildResult): Ended {
    this.#ended ??= new Ended(result);
    return this.#ended;
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }
}
