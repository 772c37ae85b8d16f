import { MrlmError } from "@mrlm/spec";

/** Longest delay of a timer. A longer deadline counts as none. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Reset or step under way. A repeated call waits for the same operation. The operation continues when its connection is lost, so that
 * the repeated call gets its response.
 */
export class Operation<T> {
  readonly promise: Promise<T>;
  readonly #controller: AbortController;
  #timer: NodeJS.Timeout | undefined;
  #waiters = 0;
  #isSettled = false;

  /**
   * @param deadlineMs 0: only the deadline of the host
   * @param controller of the signal of the work, for operations that follow each other: making one takes as long as the rest of a step. Default: a new one
   */
  constructor(
    what: string,
    deadlineMs: number,
    work: (signal: AbortSignal) => Promise<T>,
    controller = new AbortController(),
  ) {
    this.#controller = controller;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.promise = promise;
    promise.catch(() => undefined);
    if (deadlineMs > 0 && deadlineMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(() => {
        this.#isSettled = true;
        const late = lateError(what, deadlineMs);
        reject(late);
        controller.abort(late);
      }, deadlineMs);
    }
    const settle = (): void => {
      this.#isSettled = true;
      clearTimeout(this.#timer);
    };
    work(controller.signal).then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether no call waits for it. */
  get isAbandoned(): boolean {
    return !this.#isSettled && this.#waiters === 0;
  }

  /** Whether one call waits for it. */
  get isAlone(): boolean {
    return this.#waiters === 1;
  }

  /** Counts a call that waits for the response, until `leave`. */
  join(): this {
    this.#waiters++;
    return this;
  }

  leave(): void {
    this.#waiters--;
  }

  /** Aborts the signal of the work. */
  abort(reason: MrlmError): void {
    if (!this.#isSettled) this.#controller.abort(reason);
  }
}

/** Makes the error of a call that took longer than its caller allows. */
export function lateError(what: string, deadlineMs: number): MrlmError {
  return new MrlmError(
    "DEADLINE_EXCEEDED",
    `The ${what} took longer than the ${deadlineMs} ms that its caller allows.`,
  );
}
