import { silentLogger } from "@mrlm/kit/service";
import { type Logger, MrlmError, type StepResult } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { checkedRef } from "./checked-ref.ts";
import { HostedSession, type SessionSupport } from "./hosted-session.ts";
import type { Operation } from "./operation.ts";
import type { SessionReset, SessionStart, SessionStep } from "./requests.ts";
import { keyOfReset, notFoundError, type SessionLimits, Sessions } from "./sessions.ts";
import { stopping } from "./stopping.ts";

/** Sessions whose environments are in this process. */
export class SessionTable extends Sessions<HostedSession> {
  readonly #leases: { readonly defaultMs: number; readonly maxMs: number };
  readonly #support: SessionSupport;
  readonly #sweeper: NodeJS.Timeout;
  readonly #onEnd: (key: string) => void;
  #expired = 0;
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
    super(limits);
    const { maxLeaseMs = 3_600_000 } = limits;
    const { leaseMs } = this.limits;
    this.#onEnd = onEnd;
    this.#leases = { defaultMs: leaseMs, maxMs: maxLeaseMs };
    this.#support = {
      host,
      logger,
      metrics: this.metrics,
      admit: (session, signal) => this.admission.enter(session, signal),
      discard: (session) => this.#forget(session),
    };
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1_000, Math.max(10, leaseMs / 4))).unref();
  }

  /** Whether it has a session with this key: the bytes of its id as characters. */
  has(key: string): boolean {
    return this.byKey.has(key);
  }

  protected override get expired(): number {
    return this.#expired;
  }

  protected override extend(sessions: readonly HostedSession[]): void {
    for (const session of sessions) session.touch();
  }

  /** Describes an environment under the options of a client. Rejects with MESSAGE_INVALID for too many options, and as the host does. */
  async describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    return this.#support.host.describe(checkedRef(environment));
  }

  /** Starts an episode. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SESSION_BUSY, STEP_OUT_OF_ORDER, or SERVER_UNAVAILABLE while the server stops. */
  reset(owner: string, request: SessionReset): Operation<SessionStart> {
    try {
      const key = keyOfReset(request);
      checkedRef(request.environment);
      this.counts.resets++;
      const known = this.byKey.get(key);
      if (known !== undefined && known.owner !== owner) throw notFoundError();
      this.assertOpen(request.epoch, known);
      return (known ?? this.#add(key, owner, request)).reset(request);
    } catch (error) {
      this.metrics.failed("", "reset", error);
      throw error;
    }
  }

  /** Acts in an episode. Throws MESSAGE_INVALID, SESSION_NOT_FOUND, SESSION_BUSY, STEP_OUT_OF_ORDER or EPISODE_ENDED. */
  step(owner: string, request: SessionStep): Operation<StepResult> {
    this.counts.steps++;
    try {
      const session = this.find(request.sessionId, owner);
      if (session === undefined) throw notFoundError();
      return session.step(request);
    } catch (error) {
      this.metrics.failed("", "step", error);
      throw error;
    }
  }

  /** Closes a session. Does nothing for an unknown session or another owner's. */
  async close(owner: string, sessionId: Uint8Array): Promise<void> {
    const session = this.find(sessionId, owner);
    if (session !== undefined) await this.#end(session, new MrlmError("CANCELLED", "The client closed the session."));
  }

  /** Opens no new sessions, begins no new episodes, refuses the resets in the queue, waits up to `graceMs` for the open sessions, then ends them. Further calls wait for the first. */
  stop(graceMs: number): Promise<void> {
    return (this.#stopped ??= this.#stop(graceMs));
  }

  async #stop(graceMs: number): Promise<void> {
    await this.drain(graceMs);
    clearInterval(this.#sweeper);
    await Promise.all(Array.from(this.byKey.values(), (session) => this.#end(session, stopping("ends its sessions"))));
  }

  #add(key: string, owner: string, request: SessionReset): HostedSession {
    const leaseMs = Math.min(request.leaseMs || this.#leases.defaultMs, this.#leases.maxMs);
    const session = new HostedSession({ key, owner }, request, leaseMs, this.#support);
    this.add(session);
    return session;
  }

  #sweep(): void {
    const now = performance.now();
    for (const session of this.byKey.values()) {
      if (!session.isExpired(now)) continue;
      this.#expired++;
      void this.#end(session, new MrlmError("CANCELLED", "The session's lease ended."));
    }
  }

  async #end(session: HostedSession, reason: MrlmError): Promise<void> {
    this.#forget(session);
    // The session has written the failure of its environment to the log.
    await session.close(reason).catch(() => undefined);
  }

  #forget(session: HostedSession): void {
    const isKnown = this.remove(session);
    if (session.isAdmitted) {
      session.isAdmitted = false;
      this.admission.leave(session);
    }
    if (!isKnown) return;
    session.onEnd?.();
    this.#onEnd(session.key);
  }
}
