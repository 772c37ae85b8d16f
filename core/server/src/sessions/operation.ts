import { MrlmError } from "@mrlm/spec";

/** The longest that a timer can wait; a client that allows more allows any time. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * One reset or step under way. Whoever repeats the call waits for the same operation; when nobody waits any more because connections
 * were lost, it goes on, so that the repeated call finds its answer.
 */
export class Operation<T> {
  readonly promise: Promise<T>;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #waiters = 0;
  #isSettled = false;

  /** @param deadlineMs 0: none beyond the host's own */
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

  /** Nobody waits for it any more. */
  get isAbandoned(): boolean {
    return !this.#isSettled && this.#waiters === 0;
  }

  /** Someone waits for the answer, until `leave` is called. */
  join(): this {
    this.#waiters++;
    return this;
  }

  leave(): void {
    this.#waiters--;
  }

  /** Aborts the work's signal. */
  abort(reason: MrlmError): void {
    if (!this.#isSettled) this.#controller.abort(reason);
  }
}
