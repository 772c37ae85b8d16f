import { MrlmError } from "@mrlm/spec";

/** Limits of open sessions or workspaces and of the callers that wait for one. */
export interface PlacesOptions {
  /** Holders of the places, in messages: `sessions of the python sandbox`. */
  readonly what: string;
  /** Remedy for too few places. */
  readonly hint: string;
  /** Number that may be open at the same time. */
  readonly count: number;
  /** Number of callers that may wait. */
  readonly queue: number;
  /** Longest wait in milliseconds. */
  readonly waitMs: number;
  /** Called when `pressing` may have grown. */
  onPressure?(): void;
  /** Number of taken places that are about to be given back. As many callers may wait beyond `queue`: the one who had such a place may be one of them. */
  ending?(): number;
}

interface Waiting {
  grant(): void;
  reject(error: Error): void;
  /** Half of the longest wait has passed. */
  isPressing: boolean;
}

/** Places for sessions. Callers wait for a place in the order of their calls. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #waiting: Waiting[] = [];
  #free: number;
  #isClosed = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#free = options.count;
  }

  /** Number of callers that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Number of free places. */
  get free(): number {
    return this.#free;
  }

  /**
   * Number of waiting callers for which idle sessions should give up their places: those that have waited half of the longest wait, and those in the second
   * half of the queue. Fewer callers wait until a session ends by itself, and no state is lost.
   */
  get pressing(): number {
    const aged = this.#waiting.filter(({ isPressing }) => isPressing).length;
    return Math.max(aged, this.#waiting.length - Math.floor(this.#options.queue / 2));
  }

  /**
   * Takes a place, or waits for one. Returns the function that gives it back; later calls of it have no effect. Rejects with RESOURCE_EXHAUSTED if the queue
   * is full or the wait is too long, and with CANCELLED when the signal is aborted or the places are closed.
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    if (this.#isClosed) throw closed();
    if (signal?.aborted === true) throw cancelled();
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.#options.queue + (this.#options.ending?.() ?? 0))
      throw this.#exhausted(`${this.#waiting.length} calls already wait`);
    else await this.#wait(signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack();
      isTaken = false;
    };
  }

  /** Rejects all waiting callers, and later ones, with CANCELLED. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next.grant();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { waitMs, onPressure } = this.#options;
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        waiting.reject(error);
      };
      const onAbort = (): void => leave(cancelled());
      let timer = setTimeout(() => {
        waiting.isPressing = true;
        timer = setTimeout(() => leave(this.#exhausted(`this call waited ${waitMs / 1000} s`)), waitMs / 2);
        onPressure?.();
      }, waitMs / 2);
      const settled = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        grant: () => (settled(), resolve()),
        reject: (error) => (settled(), reject(error)),
        isPressing: false,
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiting);
      onPressure?.();
    });
  }

  #exhausted(reason: string): MrlmError {
    const { what, hint, count } = this.#options;
    return new MrlmError("RESOURCE_EXHAUSTED", `All ${count} ${what} are in use, and ${reason}.`, {
      hint,
      retryDelayMs: 1000,
    });
  }
}

function closed(): MrlmError {
  return new MrlmError("CANCELLED", "It is closed.");
}

function cancelled(): MrlmError {
  return new MrlmError("CANCELLED", "The wait for a place was cancelled.");
}
