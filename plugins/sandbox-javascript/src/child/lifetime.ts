import type { ChildResult } from "@mrlm/sandbox/child";
import { Ended } from "./ended.ts";

/** By how much the timers after a request's first end later than that. */
const LATER_MS = 5;
/** Timers of one request; what runs forever after that ends with its process. */
const MAX_TIMERS = 1000;

/** How long a request may still take, and how it has ended. */
export class Lifetime {
  readonly #deadline: number;
  #ended: Ended | undefined;
  #timers = 0;

  constructor(wallMs: number) {
    this.#deadline = performance.now() + wallMs;
  }

  /**
   * For a timer of isolated-vm; 0: none. A timer lies in a thread's queue until it is due, also when what it guarded ended long before, and one that
   * is due before every other gets a thread of its own: a loop of `setImmediate` took memory for both up to the limit. So there are not too
   * many, and a request's first one is due first.
   */
  timerMs(): number {
    this.#timers += 1;
    if (this.#timers > MAX_TIMERS) return 0;
    return this.leftMs + (this.#timers === 1 ? 0 : LATER_MS);
  }

  /** Whole milliseconds from now: at least 1. */
  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#deadline - performance.now()));
  }

  /** isolated-vm's own clock may ring a little early. */
  get isOver(): boolean {
    return performance.now() >= this.#deadline - 2;
  }

  /** Ends the request with this result, unless it has ended before. An error of ours does not keep its class on its way through isolates: this does. */
  end(result: ChildResult): Ended {
    this.#ended ??= new Ended(result);
    return this.#ended;
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }
}
