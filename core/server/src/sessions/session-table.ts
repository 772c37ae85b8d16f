import { type EnvironmentHost, type Logger, MrlmError } from "@mrlm/spec";
import { checkName, type environmentProto as wire, invalid } from "@mrlm/wire";
import { Admission, type AdmissionLimits } from "./admission.ts";
import { HostedSession, type SessionSupport } from "./hosted-session.ts";
import type { Operation } from "./operation.ts";

/** Time for which a session stays open without a request, in milliseconds. */
export interface LeaseLimits {
  /** Lease where the client states none. */
  readonly defaultMs: number;
  readonly maxMs: number;
}

/** Counters since the start of the server, with the present number of sessions and of resets in the queue. */
export interface SessionStats {
  sessions: number;
  queued: number;
  opened: number;
  expired: number;
  resets: number;
  steps: number;
}

const ID_BYTES = 16;
/** Retry delay that a stopping server states, in milliseconds. A restarted server may listen by then. */
const STOPPING_MS = 1_000;

/** Sessions of a server by id. A session is visible to its owner only; for other clients it does not exist. */
export class SessionTable {
  readonly #sessions = new Map<string, HostedSession>();
  readonly #admission: Admission;
  readonly #leases: LeaseLimits;
  readonly #logger: Logger;
  readonly #support: SessionSupport;
  readonly #sweeper: NodeJS.Timeout;
  readonly #counts = { opened: 0, expired: 0, resets: 0, steps: 0 };
  #isDraining = false;
  #onEmpty: (() => void) | undefined;

  constructor(
    host: EnvironmentHost,
    limits: { readonly admission: AdmissionLimits; readonly leases: LeaseLimits; readonly sweepMs: number },
    logger: Logger,
  ) {
    this.#admission = new Admission(limits.admission);
    this.#leases = limits.leases;
    this.#logger = logger;
    this.#support = {
      host,
      admit: (signal) => this.#admission.enter(signal),
      discard: (session) => this.#forget(session),
    };
    this.#sweeper = setInterval(() => this.#sweep(), limits.sweepMs).unref();
  }

  get stats(): SessionStats {
    return { sessions: this.#sessions.size, queued: this.#admission.queued, ...this.#counts };
  }

  reset(owner: string, request: wire.ResetRequest): Operation<wire.ResetResponse> {
    const key = keyOf(request.sessionId);
    // A malformed request must not create a session.
    if (request.epoch === 0) throw invalid("a reset has epoch 0; the first is 1");
    checkName(request.task, "the name of a task");
    this.#counts.resets++;
    return (this.#sessions.get(key) === undefined ? this.#add(key, owner, request) : this.#find(key, owner)).reset(
      request,
    );
  }

  step(owner: string, request: wire.StepRequest): Operation<wire.StepResponse> {
    this.#counts.steps++;
    return this.#find(keyOf(request.sessionId), owner).step(request);
  }

  /** Closes a session. Does nothing for an unknown session or another owner's. */
  async close(owner: string, { sessionId }: wire.CloseRequest): Promise<void> {
    const session = this.#sessions.get(keyOf(sessionId));
    if (session?.owner === owner)
      await this.#end(session, new MrlmError("CANCELLED", "The client closed the session."));
  }

  /** Extends leases. @returns the ids without a session of this owner */
  renew(owner: string, { sessionIds }: wire.RenewRequest): Uint8Array[] {
    return sessionIds.filter((id) => {
      const session = this.#sessions.get(keyOf(id));
      if (session?.owner !== owner) return true;
      session.touch();
      return false;
    });
  }

  /** Opens no new sessions. Resolves when the last one has ended. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    if (this.#sessions.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends every session. */
  async endAll(): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#sweeper);
    const reason = new MrlmError("SERVER_UNAVAILABLE", "The server is stopping.", { retryDelayMs: STOPPING_MS });
    await Promise.all(Array.from(this.#sessions.values(), (session) => this.#end(session, reason)));
  }

  #add(key: string, owner: string, request: wire.ResetRequest): HostedSession {
    if (this.#isDraining)
      throw new MrlmError("SERVER_UNAVAILABLE", "The server is stopping and opens no new sessions.", {
        retryDelayMs: STOPPING_MS,
      });
    const leaseMs = Math.min(request.leaseMs || this.#leases.defaultMs, this.#leases.maxMs);
    const session = new HostedSession({ key, owner }, request, leaseMs, this.#support);
    this.#sessions.set(key, session);
    this.#counts.opened++;
    return session;
  }

  #find(key: string, owner: string): HostedSession {
    const session = this.#sessions.get(key);
    if (session?.owner === owner) return session;
    throw new MrlmError(
      "SESSION_NOT_FOUND",
      "The session does not exist (any more): its lease ended, it was closed, or the server was restarted.",
    );
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.#sessions.values()) {
      if (!session.isExpired(now)) continue;
      this.#counts.expired++;
      void this.#end(session, new MrlmError("CANCELLED", "The session's lease ended."));
    }
  }

  async #end(session: HostedSession, reason: MrlmError): Promise<void> {
    this.#forget(session);
    try {
      await session.close(reason);
    } catch (error) {
      this.#logger.warn("An environment could not be closed.", { error: String(error) });
    }
  }

  #forget(session: HostedSession): void {
    if (this.#sessions.get(session.key) === session) this.#sessions.delete(session.key);
    if (session.isAdmitted) {
      session.isAdmitted = false;
      this.#admission.leave();
    }
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }
}

function keyOf(id: Uint8Array): string {
  if (id.length !== ID_BYTES) throw invalid(`a session id has ${id.length} bytes, not ${ID_BYTES}`);
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}
