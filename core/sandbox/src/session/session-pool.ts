import type { Pool } from "../pool/pool.ts";
import { Places, type PlacesOptions } from "./places.ts";
import { type OpenOptions, PooledSession } from "./pooled-session.ts";

/** Opens sessions in the children of a pool, as many at the same time as there are places. */
export class SessionPool {
  readonly #pool: Pool;
  readonly #places: Places;
  readonly #sessions = new Set<PooledSession>();
  /** Sessions that wait for an evaluation and may be closed meanwhile. The one that has waited longest is first. */
  readonly #yielding = new Set<PooledSession>();
  /** Number of sessions that are being closed for callers that wait. */
  #closing = 0;

  constructor(pool: Pool, places: Omit<PlacesOptions, "onPressure" | "ending">) {
    this.#pool = pool;
    this.#places = new Places({
      ...places,
      onPressure: () => this.#closeIdle(),
      ending: () => [...this.#sessions].filter(({ end }) => end !== undefined).length,
    });
  }

  /** Opens a session, or waits in `queued` for a place first. */
  async open(options: Omit<OpenOptions, "onIdle" | "onEnd">): Promise<PooledSession> {
    const { signal, queued = (wait) => wait() } = options;
    const giveBack = await queued(() => this.#places.take(signal));
    const child = await this.#pool.acquire(options).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    const session: PooledSession = new PooledSession(child, {
      ...options,
      onIdle: (isIdle) => this.#onIdle(session, isIdle && options.canYield === true),
      onEnd: () => {
        this.#sessions.delete(session);
        this.#pool.release(child);
        giveBack();
      },
    });
    this.#sessions.add(session);
    await session.open();
    return session;
  }

  /** Ends all children and rejects waiting callers. */
  async close(): Promise<void> {
    this.#places.close();
    await this.#pool.close();
  }

  #onIdle(session: PooledSession, isYielding: boolean): void {
    this.#yielding.delete(session);
    if (!isYielding) return;
    this.#yielding.add(session);
    this.#closeIdle();
  }

  /** Closes idle sessions, the one that has waited longest first, for callers that have waited long. */
  #closeIdle(): void {
    for (const session of this.#yielding) {
      if (this.#closing >= this.#places.pressing) return;
      this.#closing++;
      void session.finish("yielded").then(() => {
        this.#closing--;
        this.#closeIdle();
      });
    }
  }
}
