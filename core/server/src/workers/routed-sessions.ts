import { MrlmError } from "@mrlm/spec";
import type { SessionAddress } from "@mrlm/wire";
import { ServerMetrics } from "../sessions/server-metrics.ts";
import { Admission, type PlaceUse } from "../sessions/admission.ts";
import { type Capacity, type CapacityLimits, capacityLimits } from "../sessions/capacity.ts";
import { invalid } from "../sessions/invalid.ts";
import { admissionLimits, checkNumber, type SessionLimits } from "../sessions/session-table.ts";
import { type Death, sessionEndedWorker, sessionLostTwoWorkers, workerLost } from "./death.ts";
import { stopping } from "../sessions/stopping.ts";
import type { EnvironmentWorker } from "./environment-worker.ts";
import type { WorkerEnd } from "./worker-end.ts";
import { LostEpisodes } from "./lost-episodes.ts";

/** Session that a worker holds, or that waits for a place. */
export interface RoutedSession {
  readonly key: string;
  readonly owner: string;
  /** Name of the client. */
  readonly client: string;
  /** Full id of its environment. */
  readonly environment: string;
  /** Key of the first session of its episode. */
  readonly episode: string;
  /** `undefined` while it waits for a place. */
  worker: EnvironmentWorker | undefined;
  /** Resolves with its worker. Rejects when no place becomes free. */
  placed: Promise<EnvironmentWorker>;
  /** Latest epoch that a client requested. */
  epoch: number;
  /** Latest reset that waits for a place. */
  waitingReset?: { readonly epoch: number; fail(error: MrlmError): void };
  /** Its requests without a response. */
  underWay: number;
  /** Index of its latest step; -1 after a reset. */
  index: number;
  /** Its episode lost a worker for an unknown reason at this index or after it: one such request at a time, so that the next loss can be attributed. */
  suspectIndex: number | undefined;
  /** Its worker may not have it: it reported its end during a request, or answered with an error. */
  isDoubtful: boolean;
}

/** Waiting session, whose wait ends when no request waits with it. */
interface Wait {
  requests: number;
  readonly end: AbortController;
}

/** Environments and workers of the sessions. */
export interface SessionWorkers {
  /** Returns the full id of an environment, with its package: ` (plugin @mrlm/environment-math 0.1.0)`. */
  environmentOf(id: string): { readonly id: string; readonly provider: string };
  /** Throws if new sessions of an environment are refused. */
  assertOffered(id: string): void;
  /** Returns the worker for a new session, which is counted from then on. Waits while none is ready. */
  choose(signal: AbortSignal): Promise<EnvironmentWorker>;
}

const ID_BYTES = 16;
/** Losses without a known reason after which an episode ends. */
const MAX_LOSSES = 2;

/** Sessions of all clients by id, with their workers. It admits sessions and decides which of them ended a worker. */
export class RoutedSessions implements Capacity {
  readonly #sessions = new Map<string, RoutedSession>();
  readonly #waits = new Map<RoutedSession, Wait>();
  readonly #lost = new LostEpisodes();
  readonly metrics = new ServerMetrics();
  readonly #admission: Admission;
  readonly #leaseMs: number;
  readonly #workers: SessionWorkers;
  readonly #empty = Promise.withResolvers<void>();
  #isDraining = false;
  opened = 0;
  resets = 0;
  steps = 0;

  constructor(workers: SessionWorkers, limits: SessionLimits = {}) {
    this.#workers = workers;
    this.#admission = new Admission(admissionLimits(limits));
    this.#leaseMs = limits.leaseMs ?? 60_000;
  }

  get limits(): CapacityLimits {
    return capacityLimits(this.#admission.limits, this.#leaseMs);
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

  get size(): number {
    return this.#sessions.size;
  }

  /** Returns a session of this owner. Throws MESSAGE_INVALID for an id that is none. */
  find(sessionId: Uint8Array, owner: string): RoutedSession | undefined {
    const session = this.#sessions.get(keyOf(sessionId));
    return session?.owner === owner ? session : undefined;
  }

  /** Returns the session of a reset, which may open it. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SERVER_UNAVAILABLE, or the error with which its episode ended. */
  reset(address: SessionAddress, owner: string, client = owner): RoutedSession {
    const key = keyOf(address.sessionId);
    if (address.epoch === 0) throw invalid("a reset has epoch 0; the first is 1");
    this.resets++;
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      if (known.owner !== owner) throw this.lostError(key, owner, address.epoch);
      if (this.#isDraining && address.epoch > known.epoch) throw stopping("begins no new episodes");
      known.epoch = Math.max(known.epoch, address.epoch);
      return known;
    }
    const episode = address.episode.length === ID_BYTES ? keyOf(address.episode) : key;
    const end = this.#lost.endOf(episode, owner, episode === key ? address.epoch : 0);
    if (end !== undefined) throw end;
    if (this.#isDraining) throw stopping("opens no new sessions");
    const { id } = this.#workers.environmentOf(address.environment);
    this.#workers.assertOffered(id);
    return this.#open({ key, owner, client, environment: id, episode }, address.epoch);
  }

  /** Counts a request that waits for the session's place. @returns a function to call when it waits no more */
  joinWait(session: RoutedSession): () => void {
    const wait = this.#waits.get(session);
    if (wait === undefined) return () => undefined;
    wait.requests++;
    return () => {
      if (--wait.requests === 0) wait.end.abort(new MrlmError("CANCELLED", "The client cancelled the call."));
    };
  }

  /** Ends the wait of a session that its client closed. */
  endWait(session: RoutedSession): void {
    this.#waits.get(session)?.end.abort(new MrlmError("CANCELLED", "The client closed the session."));
  }

  /** Returns the error of a request for a session that does not exist. */
  lostError(key: string, owner: string, epoch: number): MrlmError {
    return (
      this.#lost.endOf(key, owner, epoch) ??
      new MrlmError(
        "SESSION_NOT_FOUND",
        "The session does not exist (any more): its lease ended, it was closed, or the server was restarted.",
      )
    );
  }

  /** Extends leases. @returns the ids without a session of this owner */
  renew(sessionIds: readonly Uint8Array[], owner: string): Uint8Array[] {
    checkNumber(sessionIds);
    const byWorker = new Map<EnvironmentWorker, string[]>();
    const gone = sessionIds.filter((id) => {
      const session = this.find(id, owner);
      if (session === undefined) return true;
      if (session.worker === undefined) return false;
      const keys = byWorker.get(session.worker);
      if (keys === undefined) byWorker.set(session.worker, [session.key]);
      else keys.push(session.key);
      return false;
    });
    for (const [worker, sessions] of byWorker) worker.send({ type: "renew", owner, sessions });
    return gone;
  }

  /** Receives the keys of sessions that a worker does not have. */
  ended(worker: EnvironmentWorker, keys: readonly string[]): void {
    for (const key of keys) {
      const session = this.#sessions.get(key);
      if (session === undefined || session.worker !== worker) continue;
      // A reset under way may have opened it again.
      if (session.underWay > 0) session.isDoubtful = true;
      else this.#remove(session);
    }
  }

  /** Reports that a suspected request of a session was answered: the episode did not end its worker. */
  acquit(session: RoutedSession): void {
    session.suspectIndex = undefined;
    this.#lost.acquit(session.episode);
  }

  /** Reports that a session's request has been answered. */
  answered(session: RoutedSession): void {
    if (--session.underWay > 0 || !session.isDoubtful) return;
    session.isDoubtful = false;
    if (session.worker?.isDead === false) session.worker.send({ type: "check", sessions: [session.key] });
  }

  /**
   * Ends the sessions of a worker whose process has ended.
   * @param underWay sessions with a request that it had not answered
   * @returns the environments that ended it, and the errors of the sessions
   */
  lose(
    worker: EnvironmentWorker,
    end: WorkerEnd,
    underWay: ReadonlySet<RoutedSession>,
  ): { readonly environments: ReadonlySet<string>; readonly death: Death } {
    const lost = [...this.#sessions.values()].filter((session) => session.worker === worker);
    // The code of a session that has ended can run on, and end the worker.
    const isKnown = end.work !== undefined && end.work.session !== "";
    const working = isKnown
      ? lost.filter(({ key }) => key === end.work?.session)
      : lost.filter((session) => session === worker.tested);
    const isTested = working.length > 0;
    const suspects = worker.isStopping
      ? []
      : isKnown || isTested
        ? working
        : underWay.size > 0
          ? lost.filter((each) => underWay.has(each))
          : lost;
    const errors = new Map<string, MrlmError>();
    const isCertain = isKnown || isTested || (underWay.size > 0 && suspects.length === 1);
    for (const session of suspects) {
      const { id: environment, provider } = this.#workers.environmentOf(session.environment);
      const losses = isCertain ? MAX_LOSSES : this.#lost.add(session.episode, session.owner, session.index);
      if (losses < MAX_LOSSES) continue;
      const error = (isCertain ? sessionEndedWorker : sessionLostTwoWorkers)({ environment, provider }, end);
      errors.set(session.key, error);
      this.#lost.end(session.key, session.owner, session.epoch, error);
      if (session.episode !== session.key) this.#lost.end(session.episode, session.owner, session.epoch, error);
    }
    for (const session of lost) this.#remove(session);
    const shared = workerLost(end);
    // A loss that cannot be attributed withdraws no environment: an operator or the system may have ended the process.
    const environments = new Set(isCertain ? suspects.map(({ environment }) => environment) : []);
    if (end.work?.environment !== undefined) environments.add(end.work.environment);
    return {
      environments,
      death: { errorOf: (key) => errors.get(key) ?? shared },
    };
  }

  /** Asks the workers whether they still have the sessions without a request: a client that is gone may have left one whose reset was refused. */
  check(): void {
    const idle = Map.groupBy(
      [...this.#sessions.values()].filter(({ underWay, worker }) => underWay === 0 && worker?.isDead === false),
      ({ worker }) => worker as EnvironmentWorker,
    );
    for (const [worker, sessions] of idle) worker.send({ type: "check", sessions: sessions.map(({ key }) => key) });
  }

  /** Opens no new sessions, begins no new episodes, refuses the resets in the queue, and waits up to `graceMs` for the open ones. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#admission.close(() => stopping("opens no new sessions"));
    if (this.#sessions.size === 0) return;
    const timer = setTimeout(() => this.#empty.resolve(), graceMs);
    await this.#empty.promise;
    clearTimeout(timer);
    for (const { end } of this.#waits.values()) end.abort(stopping("opens no new sessions"));
  }

  #open(
    identity: Pick<RoutedSession, "key" | "owner" | "client" | "environment" | "episode">,
    epoch: number,
  ): RoutedSession {
    const end = new AbortController();
    const session: RoutedSession = {
      ...identity,
      ...{ worker: undefined, epoch, underWay: 0, index: -1, isDoubtful: false },
      suspectIndex: this.#lost.suspectIndex(identity.episode, identity.owner),
      placed: Promise.resolve() as unknown as Promise<EnvironmentWorker>,
    };
    this.#sessions.set(session.key, session);
    this.#waits.set(session, { requests: 0, end });
    this.opened++;
    session.placed = this.#place(session, end.signal);
    session.placed.catch(() => undefined);
    return session;
  }

  async #place(session: RoutedSession, signal: AbortSignal): Promise<EnvironmentWorker> {
    let isAdmitted = false;
    let chosen: EnvironmentWorker | undefined;
    try {
      const started = performance.now();
      await this.#admission.enter(session, signal);
      this.metrics.waited(started);
      isAdmitted = true;
      signal.throwIfAborted();
      const worker = await this.#workers.choose(signal);
      chosen = worker;
      signal.throwIfAborted();
      session.worker = worker;
      return worker;
    } catch (error) {
      if (chosen !== undefined) chosen.sessions--;
      if (isAdmitted) this.#admission.leave(session);
      this.#forget(session);
      throw error;
    } finally {
      this.#waits.delete(session);
    }
  }

  #remove(session: RoutedSession): void {
    if (session.worker !== undefined) {
      session.worker.sessions--;
      this.#admission.leave(session);
    }
    this.#forget(session);
  }

  #forget(session: RoutedSession): void {
    this.#sessions.delete(session.key);
    if (this.#isDraining && this.#sessions.size === 0) this.#empty.resolve();
  }
}

/** Whether the latest request of a session is one of those that may have ended a worker. */
export function isSuspect({ index, suspectIndex }: RoutedSession): boolean {
  return suspectIndex !== undefined && index >= suspectIndex;
}

/** Returns the key of a session id. Throws MESSAGE_INVALID. */
export function keyOf(id: Uint8Array): string {
  if (id.length !== ID_BYTES) throw invalid(`a session id has ${id.length} bytes, not ${ID_BYTES}`);
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}
