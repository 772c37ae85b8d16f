import { randomBytes } from "node:crypto";

/** Time for which a client can fetch a result again. */
const KEPT_MS = 60_000;
/** Calls of a session whose results are kept. */
const MAX_KEPT = 64;

/** Call of a tool, which continues when its client disconnects. */
export interface OrsCall {
  /** Names the call in a request that fetches its result again. */
  readonly id: string;
  readonly result: Promise<unknown>;
}

/** Calls of one session. Those that have ended are kept for a minute. */
export class OrsCalls {
  readonly #calls = new Map<string, OrsCall>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** Finds a call by its id. */
  find(id: string): OrsCall | undefined {
    return this.#calls.get(id);
  }

  /** Adds a call. `begin` starts its work after the client knows the id. */
  add(): { readonly call: OrsCall; begin(work: () => Promise<unknown>): void } {
    const id = randomBytes(16).toString("hex");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    // A client that has disconnected does not wait for it.
    promise.catch(() => undefined);
    const call = { id, result: promise };
    this.#calls.set(id, call);
    const keep = (): void => {
      if (!this.#calls.has(id)) return;
      this.#timers.set(id, setTimeout(() => this.#forget(id), KEPT_MS).unref());
      const [oldest] = this.#timers.keys();
      if (this.#timers.size > MAX_KEPT && oldest !== undefined) this.#forget(oldest);
    };
    return {
      call,
      begin: (work) => void work().then(resolve, reject).finally(keep),
    };
  }

  /** Forgets all results. */
  clear(): void {
    for (const id of this.#calls.keys()) this.#forget(id);
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#calls.delete(id);
  }
}
