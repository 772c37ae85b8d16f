import { silentLogger } from "@mrlm/kit/service";
import { type Logger, MrlmError, type StepResult } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { ServerMetrics } from "./server-metrics.ts";
import { Admission, type AdmissionLimits, type PlaceUse } from "./admission.ts";
import { type Capacity, type CapacityLimits, capacityLimits } from "./capacity.ts";
import { checkedRef } from "./checked-ref.ts";
import { HostedSession, type SessionSupport } from "./hosted-session.ts";
import { invalid } from "./invalid.ts";
import type { Operation } from "./operation.ts";
import type { SessionReset, SessionStart, SessionStep } from "./requests.ts";
import { stopping } from "./stopping.ts";

/** Limits of {@link SessionTable}. */
export interface SessionLimits {
  /** Open sessions at a time. Default: 4096. */
  readonly maxSessions?: number | undefined;
  /** Open sessions of one client. Default: half of `maxSessions`, rounded up. */
  readonly maxSessionsPerClient?: number | undefined;
  /** Open sessions of an environment by its id. Default: only `maxSessions`. */
  readonly maxSessionsByEnvironment?: Readonly<Record<string, number>> | undefined;
  /** Resets that may wait for a free place; more are refused with RESOURCE_EXHAUSTED. Default: 1024. */
  readonly maxQueue?: number | undefined;
  /** Longest wait of a reset in milliseconds. Default: 30,000. */
  readonly queueMs?: number | undefined;
  /** Lease of a session in milliseconds where its client states none: a session without a request for this long is closed. Default: 60,000. */
  readonly leaseMs?: number | undefined;
  /** Longest lease that a client may request, in milliseconds. Default: one hour. */
  readonly maxLeaseMs?: number | undefined;
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

/** Returns the limits of the admission with their defaults. */
export function admissionLimits(limits: SessionLimits): AdmissionLimits {
  const { maxSessions = 4096, maxQueue = 1024, queueMs = 30_000, maxSessionsByEnvironment } = limits;
  const { maxSessionsPerClient = Math.ceil(maxSessions / 2) } = limits;
  return {
    places: maxSessions,
    placesPerClient: maxSessionsPerClient,
    ...(maxSessionsByEnvironment && { placesByEnvironment: maxSessionsByEnvironment }),
    queue: maxQueue,
    queueMs,
  };
}

const ID_BYTES = 16;
/** Sessions whose leases one request extends. Clients of this project send up to 4,096. */
const MAX_RENEWED = 65_536;

/** Sessions of a server by id. A session is visible to its owner only; for other clients it does not exist. */
export class SessionTable implements Capacity {
  readonly #sessions = new Map<string, HostedSession>();
  readonly metrics = new ServerMetrics();
  readonly #admission: Admission;
  readonly #leases: { readonly defaultMs: number; readonly maxMs: number };
  readonly #support: SessionSupport;
  readonly #sweeper: NodeJS.Timeout;
  readonly #counts = { opened: 0, expired: 0, resets: 0, steps: 0 };
  readonly #empty = Promise.withResolvers<void>();
  readonly #onEnd: (key: string) => void;
  #isDraining = false;
  #stopped: Promise<void> | undefined;

  /**
   * @param logger receives environments that could not be closed
   * @param onEnd receives the key of each session that has left the table
   */
  constructor(
    host: EnvironmentHost,
    limits: SessionLimits = {},
    logger: Logger = silentLogger,
    onEnd: (key: string) => void = () => undefined,
  ) {
    this.#onEnd = onEnd;
    const { leaseMs = 60_000, maxLeaseMs = 3_600_000 } = limits;
    this.#admission = new Admission(admissionLimits(limits));
    this.#leases = { defaultMs: leaseMs, maxMs: maxLeaseMs };
    this.#support = {
      host,
      logger,
      metrics: this.metrics,
      admit: (session, signal) => this.#admission.enter(session, signal),
      discard: (session) => this.#forget(session),
    };
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1_000, Math.max(10, leaseMs / 4))).unref();
  }

  get limits(): CapacityLimits {
    return capacityLimits(this.#admission.limits, this.#leases.defaultMs);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  use(environment?: string): PlaceUse {
    return this.#admission.use(environment);
  }

  useOfClient(client: string): PlaceUse {
    return this.#admission.useOfClient(client);
  }

  get stats(): SessionStats {
    return { sessions: this.#sessions.size, queued: this.#admission.use().queued, ...this.#counts };
  }

  /** Whether it has a session with this key: the bytes of its id as characters. */
  has(key: string): boolean {
    return this.#sessions.has(key);
  }

  /** Describes an environment under the options of a client. Rejects with MESSAGE_INVALID for too many options, and as the host does. */
  async describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    return this.#support.host.describe(checkedRef(environment));
  }

  /** Starts an episode. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SESSION_BUSY, STEP_OUT_OF_ORDER, or SERVER_UNAVAILABLE while the server stops. */
  reset(owner: string, request: SessionReset): Operation<SessionStart> {
    try {
      const key = keyOf(request.sessionId);
      // A malformed request must not create a session.
      if (request.epoch === 0) throw invalid("a reset has epoch 0; the first is 1");
      checkedRef(request.environment);
      this.#counts.resets++;
      const session = this.#sessions.get(key) === undefined ? this.#add(key, owner, request) : this.#find(key, owner);
      // A session that begins one episode after the other would otherwise use the whole time of the drain, and then lose an episode.
      if (this.#isDraining && request.epoch > session.epoch) throw stopping("begins no new episodes");
      return session.reset(request);
    } catch (error) {
      this.metrics.failed("", "reset", error);
      throw error;
    }
  }

  /** Acts in an episode. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SESSION_BUSY, STEP_OUT_OF_ORDER or EPISODE_ENDED. */
  step(owner: string, request: SessionStep): Operation<StepResult> {
    this.#counts.steps++;
    try {
      return this.#find(keyOf(request.sessionId), owner).step(request);
    } catch (error) {
      this.metrics.failed("", "step", error);
      throw error;
    }
  }

  /** Closes a session. Does nothing for an unknown session or another owner's. */
  async close(owner: string, sessionId: Uint8Array): Promise<void> {
    const session = this.#sessions.get(keyOf(sessionId));
    if (session?.owner === owner)
      await this.#end(session, new MrlmError("CANCELLED", "The client closed the session."));
  }

  /** Extends leases. Throws MESSAGE_INVALID for more than 65,536 ids. @returns the ids without a session of this owner */
  renew(owner: string, sessionIds: readonly Uint8Array[]): Uint8Array[] {
    checkNumber(sessionIds);
    return sessionIds.filter((id) => {
      const session = this.#sessions.get(keyOf(id));
      if (session?.owner !== owner) return true;
      session.touch();
      return false;
    });
  }

  /** Opens no new sessions, begins no new episodes, refuses the resets in the queue, waits up to `graceMs` for the open sessions, then ends them. Further calls wait for the first. */
  stop(graceMs: number): Promise<void> {
    return (this.#stopped ??= this.#stop(graceMs));
  }

  async #stop(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#admission.close(() => stopping("opens no new sessions"));
    if (this.#sessions.size > 0) {
      const timer = setTimeout(() => this.#empty.resolve(), graceMs);
      await this.#empty.promise;
      clearTimeout(timer);
    }
    clearInterval(this.#sweeper);
    await Promise.all(
      Array.from(this.#sessions.values(), (session) => this.#end(session, stopping("ends its sessions"))),
    );
  }

  #add(key: string, owner: string, request: SessionReset): HostedSession {
    if (this.#isDraining) throw stopping("opens no new sessions");
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
    // The session has written the failure of its environment to the log.
    await session.close(reason).catch(() => undefined);
  }

  #forget(session: HostedSession): void {
    const isKnown = this.#sessions.get(session.key) === session;
    if (isKnown) this.#sessions.delete(session.key);
    if (session.isAdmitted) {
      session.isAdmitted = false;
      this.#admission.leave(session);
    }
    if (this.#isDraining && this.#sessions.size === 0) this.#empty.resolve();
    if (!isKnown) return;
    session.onEnd?.();
    this.#onEnd(session.key);
  }
}

/** Throws MESSAGE_INVALID for more ids than one request may name. */
export function checkNumber(sessionIds: readonly Uint8Array[]): void {
  if (sessionIds.length > MAX_RENEWED)
    throw invalid(`it names ${sessionIds.length} sessions; ${MAX_RENEWED} are allowed`);
}

function keyOf(id: Uint8Array): string {
  if (id.length !== ID_BYTES) throw invalid(`a session id has ${id.length} bytes, not ${ID_BYTES}`);
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}
