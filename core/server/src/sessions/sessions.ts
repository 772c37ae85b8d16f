import { MrlmError } from "@mrlm/spec";
import { Admission, type AdmissionLimits, type Applicant, type PlaceUse } from "./admission.ts";
import { type Capacity, type CapacityLimits, capacityLimits } from "./capacity.ts";
import { invalid } from "./invalid.ts";
import { ServerMetrics } from "./server-metrics.ts";
import { stopping } from "./stopping.ts";

/** Limits of {@link Sessions}. */
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

/** Session of a client. */
interface OwnedSession extends Applicant {
  /** Bytes of its id as characters. */
  readonly key: string;
  readonly owner: string;
}

/** Length of a session id in bytes. */
export const ID_BYTES = 16;
/** Sessions whose leases one request extends. Clients of this project send up to 4,096. */
const MAX_RENEWED = 65_536;

/**
 * Sessions of a server by id: their admission, leases and counters, and the end of the server. A session is visible to its
 * owner only; for other clients it does not exist.
 */
export abstract class Sessions<Session extends OwnedSession> implements Capacity {
  readonly metrics = new ServerMetrics();
  protected readonly admission: Admission;
  /** Sessions by their keys. */
  protected readonly byKey = new Map<string, Session>();
  protected readonly counts = { opened: 0, resets: 0, steps: 0 };
  readonly #leaseMs: number;
  readonly #empty = Promise.withResolvers<void>();
  #isDraining = false;

  constructor({ leaseMs = 60_000, ...limits }: SessionLimits) {
    this.admission = new Admission(admissionLimits(limits));
    this.#leaseMs = leaseMs;
  }

  get limits(): CapacityLimits {
    return capacityLimits(this.admission.limits, this.#leaseMs);
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Number of leases that have ended. */
  protected abstract get expired(): number;

  get stats(): SessionStats {
    const { opened, resets, steps } = this.counts;
    return { sessions: this.byKey.size, queued: this.use().queued, opened, expired: this.expired, resets, steps };
  }

  use(environment?: string): PlaceUse {
    return this.admission.use(environment);
  }

  useOfClient(client: string): PlaceUse {
    return this.admission.useOfClient(client);
  }

  /** Returns a session of this owner. Throws MESSAGE_INVALID for an id that is none. */
  find(sessionId: Uint8Array, owner: string): Session | undefined {
    const session = this.byKey.get(keyOf(sessionId));
    return session?.owner === owner ? session : undefined;
  }

  /** Extends leases. Throws MESSAGE_INVALID for more than 65,536 ids. @returns the ids without a session of this owner */
  renew(owner: string, sessionIds: readonly Uint8Array[]): Uint8Array[] {
    if (sessionIds.length > MAX_RENEWED)
      throw invalid(`it names ${sessionIds.length} sessions; ${MAX_RENEWED} are allowed`);
    const found: Session[] = [];
    const gone = sessionIds.filter((id) => {
      const session = this.find(id, owner);
      if (session !== undefined) found.push(session);
      return session === undefined;
    });
    this.extend(found);
    return gone;
  }

  /** Extends the leases of sessions of one owner. */
  protected abstract extend(sessions: readonly Session[]): void;

  /** Throws SERVER_UNAVAILABLE for a reset while the server stops, unless it repeats the latest of its session. */
  protected assertOpen(epoch: number, session: { readonly epoch: number } | undefined): void {
    if (!this.#isDraining) return;
    if (session === undefined) throw stopping("opens no new sessions");
    // A session that begins one episode after the other would otherwise use the whole time of the drain, and then lose an episode.
    if (epoch > session.epoch) throw stopping("begins no new episodes");
  }

  protected add(session: Session): void {
    this.byKey.set(session.key, session);
    this.counts.opened++;
  }

  /** Removes a session. @returns whether it was there */
  protected remove(session: Session): boolean {
    const isKnown = this.byKey.get(session.key) === session;
    if (isKnown) this.byKey.delete(session.key);
    if (this.#isDraining && this.byKey.size === 0) this.#empty.resolve();
    return isKnown;
  }

  /** Opens no new sessions, begins no new episodes, refuses the resets in the queue, and waits up to `graceMs` for the open sessions. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.admission.close(() => stopping("opens no new sessions"));
    if (this.byKey.size === 0) return;
    const timer = setTimeout(() => this.#empty.resolve(), graceMs);
    await this.#empty.promise;
    clearTimeout(timer);
  }
}

/** Makes the error of a request for a session that does not exist. */
export function notFoundError(): MrlmError {
  return new MrlmError(
    "SESSION_NOT_FOUND",
    "The session does not exist (any more): its lease ended, it was closed, or the server was restarted.",
  );
}

/** Returns the key of the session of a reset. Throws MESSAGE_INVALID: a malformed reset must not create a session. */
export function keyOfReset({ sessionId, epoch }: { readonly sessionId: Uint8Array; readonly epoch: number }): string {
  const key = keyOf(sessionId);
  if (epoch === 0) throw invalid("a reset has epoch 0; the first is 1");
  return key;
}

/** Returns the key of a session id. Throws MESSAGE_INVALID. */
export function keyOf(id: Uint8Array): string {
  if (id.length !== ID_BYTES) throw invalid(`a session id has ${id.length} bytes, not ${ID_BYTES}`);
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}

function admissionLimits(limits: SessionLimits): AdmissionLimits {
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
