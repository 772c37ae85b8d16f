import type { RemoteEnvironment } from "./remote-environment.ts";
import type { SessionTransport } from "./session-transport.ts";

/** Ids in one request. */
const BATCH = 4096;

/** Renews the leases of sessions that are open and have been quiet for a third of their lease. */
export class LeaseKeeper {
  readonly sessions = new Set<RemoteEnvironment>();
  readonly #transport: SessionTransport;
  #timer: NodeJS.Timeout | undefined;
  #isRenewing = false;

  constructor(transport: SessionTransport, leaseMs: number) {
    this.#transport = transport;
    this.#timer = setInterval(() => void this.#renew(), Math.max(20, leaseMs / 6)).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const now = performance.now();
    const quiet = Array.from(this.sessions).filter((session) => session.isOpen && now - session.heardAt > session.leaseMs / 3);
    try {
      for (let start = 0; start < quiet.length; start += BATCH) await this.#renewBatch(quiet.slice(start, start + BATCH));
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
