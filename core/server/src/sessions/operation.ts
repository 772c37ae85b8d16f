import { MrlmError } from "@mrlm/spec";

/** Longest delay of a timer. A longer deadline counts as none. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Reset or step under way. A repeated call waits for the same operation. The operation continues when its connection is lost, so that
 * the repeated call gets its response.
 */
export class Operation<T> {
  readonly promise: Promise<T>;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #waiters = 0;
  #isSettled = false;

  /** @param deadlineMs 0: only the deadline of the host */
  constructor(what: string, deadlineMs: number, work: (signal: AbortSignal) => Promise<T>) {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.promise = promise.finally(() => {
      this.#isSettled = true;
      clearTimeout(this.#timer);
    });
    this.promise.catch(() => undefined);
    if (deadlineMs > 0 && deadlineMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(() => {
        const late = new MrlmError(
          "DEADLINE_EXCEEDED",
          `The ${what} took longer than the ${deadlineMs} ms that its caller allows.`,
        );
        reject(late);
        this.#controller.abort(late);
      }, deadlineMs);
    }
    work(this.#controller.signal).then(resolve, reject);
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether no call waits for it. */
  get isAbandoned(): boolean {
    return !this.#isSettled && this.#waiters === 0;
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
