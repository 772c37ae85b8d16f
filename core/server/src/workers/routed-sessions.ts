import { MrlmError } from "@mrlm/spec";
import type { SessionAddress } from "../service/envelope.ts";
import { ID_BYTES, keyOf, keyOfReset, notFoundError, type SessionLimits, Sessions } from "../sessions/sessions.ts";
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
  /** Leases that have ended. */
  readonly expired: number;
  /** Returns the worker for a new session, which is counted from then on. Waits while none is ready. */
  choose(signal: AbortSignal): Promise<EnvironmentWorker>;
}

/** Losses without a known reason after which an episode ends. */
const MAX_LOSSES = 2;

/** Sessions in the workers. Decides which of them ended a worker. */
export class RoutedSessions extends Sessions<RoutedSession> {
  readonly #waits = new Map<RoutedSession, Wait>();
  readonly #lost = new LostEpisodes();
  readonly #workers: SessionWorkers;

  constructor(workers: SessionWorkers, limits: SessionLimits = {}) {
    super(limits);
    this.#workers = workers;
  }

  protected override get expired(): number {
    return this.#workers.expired;
  }

  /** Returns the session of a reset, which may open it. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SERVER_UNAVAILABLE, or the error with which its episode ended. */
  reset(address: SessionAddress, owner: string, client = owner): RoutedSession {
    const { epoch } = address;
    const key = keyOfReset(address);
    this.counts.resets++;
    const known = this.byKey.get(key);
    if (known !== undefined) {
      if (known.owner !== owner) throw this.#lostError(key, owner, epoch);
      this.assertOpen(epoch, known);
      known.epoch = Math.max(known.epoch, epoch);
      return known;
    }
    const episode = address.episode.length === ID_BYTES ? keyOf(address.episode) : key;
    const end = this.#lost.endOf(episode, owner, episode === key ? epoch : 0);
    if (end !== undefined) throw end;
    this.assertOpen(epoch, undefined);
    const { id } = this.#workers.environmentOf(address.environment);
    this.#workers.assertOffered(id);
    return this.#open({ key, owner, client, environment: id, episode }, epoch);
  }

  /** Counts a step. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, or the error with which its episode ended. @returns its session */
  step({ sessionId, epoch }: SessionAddress, owner: string): RoutedSession {
    this.counts.steps++;
    const session = this.find(sessionId, owner);
    if (session === undefined) throw this.#lostError(keyOf(sessionId), owner, epoch);
    return session;
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
  #lostError(key: string, owner: string, epoch: number): MrlmError {
    return this.#lost.endOf(key, owner, epoch) ?? notFoundError();
  }

  protected override extend(sessions: readonly RoutedSession[]): void {
    const placed = sessions.filter(({ worker }) => worker !== undefined);
    for (const [worker, of] of Map.groupBy(placed, ({ worker }) => worker as EnvironmentWorker))
      worker.send({ type: "renew", owner: (of[0] as RoutedSession).owner, sessions: of.map(({ key }) => key) });
  }

  /** Receives the keys of sessions that a worker does not have. */
  ended(worker: EnvironmentWorker, keys: readonly string[]): void {
    for (const key of keys) {
      const session = this.byKey.get(key);
      if (session === undefined || session.worker !== worker) continue;
      // A reset under way may have opened it again.
      if (session.underWay > 0) session.isDoubtful = true;
      else this.#leave(session);
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
    const lost = [...this.byKey.values()].filter((session) => session.worker === worker);
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
    for (const session of lost) this.#leave(session);
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
      [...this.byKey.values()].filter(({ underWay, worker }) => underWay === 0 && worker?.isDead === false),
      ({ worker }) => worker as EnvironmentWorker,
    );
    for (const [worker, sessions] of idle) worker.send({ type: "check", sessions: sessions.map(({ key }) => key) });
  }

  override async drain(graceMs: number): Promise<void> {
    await super.drain(graceMs);
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
    this.add(session);
    this.#waits.set(session, { requests: 0, end });
    session.placed = this.#place(session, end.signal);
    session.placed.catch(() => undefined);
    return session;
  }

  async #place(session: RoutedSession, signal: AbortSignal): Promise<EnvironmentWorker> {
    let isAdmitted = false;
    let chosen: EnvironmentWorker | undefined;
    try {
      const started = performance.now();
      await this.admission.enter(session, signal);
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
      if (isAdmitted) this.admission.leave(session);
      this.remove(session);
      throw error;
    } finally {
      this.#waits.delete(session);
    }
  }

  #leave(session: RoutedSession): void {
    if (session.worker !== undefined) {
      session.worker.sessions--;
      this.admission.leave(session);
    }
    this.remove(session);
  }
}

/** Whether the latest request of a session is one of those that may have ended a worker. */
export function isSuspect({ index, suspectIndex }: RoutedSession): boolean {
  return suspectIndex !== undefined && index >= suspectIndex;
}
