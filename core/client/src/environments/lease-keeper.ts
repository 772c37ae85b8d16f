import type { RemoteEnvironment } from "./remote-environment.ts";
import type { SessionTransport } from "./session-transport.ts";

/** Ids in one request. */
const BATCH = 4096;
/** Longer leases are renewed as often as this one, because a timer waits at most 2^31 ms. */
const MAX_LEASE_MS = 3_600_000;

/** Renews the leases of open sessions that made no call for a third of their lease. */
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

  /** Takes the lease that a server granted, which may be shorter than requested. */
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
    const idle = Array.from(this.sessions).filter(
      (session) => session.isOpen && now - session.usedAt > session.leaseMs / 3,
    );
    try {
      for (let start = 0; start < idle.length; start += BATCH) await this.#renewBatch(idle.slice(start, start + BATCH));
    } catch {
      // The server cannot be reached. The next call of a session waits for it or rejects.
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
      else session.usedAt = now;
    }
  }
}

function keyOf(id: Uint8Array): string {
  return Buffer.from(id).toString("latin1");
}
