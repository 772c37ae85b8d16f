import type { RemoteEnvironment } from "./remote-environment.ts";
import type { SessionTransport } from "./session-transport.ts";

/** Ids in one request. */
const BATCH = 4096;
/** Longer ones are renewed as often as this one: a timer waits 2^31 ms at the most. */
const MAX_LEASE_MS = 3_600_000;

/** Renews the leases of sessions that are open and have been quiet for a third of their lease. */
export class LeaseKeeper {
  readonly sessions = new Set<RemoteEnvironment>();
  readonly #transport: SessionTransport;
  /** The shortest lease of any session. */
  #leaseMs = MAX_LEASE_MS;
  #timer: NodeJS.Timeout | undefined;
  #isRenewing = false;

  constructor(transport: SessionTransport) {
    this.#transport = transport;
  }

  /** A server may grant less than it was asked for. */
  granted(leaseMs: number): void {
    if (this.#timer !== undefined && leaseMs >= this.#leaseMs) return;
    this.#leaseMs = Math.min(leaseMs, this.#leaseMs);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#renew(), Math.max(20, this.#leaseMs / 6)).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const now = performance.now();
    const quiet = Array.from(this.sessions).filter(
      (session) => session.isOpen && now - session.heardAt > session.leaseMs / 3,
    );
    try {
      for (let start = 0; start < quiet.length; start += BATCH)
        await this.#renewBatch(quiet.slice(start, start + BATCH));
    } catch {
      // The server cannot be reached: whoever uses a session next will be told.
    } finally {
      this.#isRenewing = false;
    }
  }

  async #renewBatch(batch: readonly RemoteEnvironment[]): Promise<void> {
    const { gone } = await this.#transport.renew({ sessionIds: batch.map(({ id }) => id) }, []);
    const lost = new Set(gone.map(keyOf));
    const now = performance.now();
    for (const session of batch) {
      if (lost.has(keyOf(session.id))) session.lost();
      else session.heardAt = now;
    }
  }
}

function keyOf(id: Uint8Array): string {
  return Buffer.from(id).toString("latin1");
}
