import { MrlmError } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";
import { Backoff } from "../connection/backoff.ts";
import { PoolMember } from "../connection/member-pool.ts";
import { ResetFaults } from "./reset-faults.ts";
import { type ConnectEnvironmentsOptions, RemoteHost } from "./remote-host.ts";
import type { ServerAddress } from "./server-addresses.ts";

/** Time in milliseconds that a server has to answer before it is reported as absent. */
export const ABSENT_MS = 1_000;
/** Longest wait for a server in one call of the probe. Timers wait for at most 2^31 ms. */
const PROBE_MS = 86_400_000;
/** Age at which the use of a server is requested again before a session is opened. */
const FRESH_MS = 1_000;
/** Longest wait of a new session for the present use of a server. */
const FRESH_WAIT_MS = 250;

/** One of several servers. Requests its use while sessions are opened, and probes it while it is lost. */
export class ServerMember extends PoolMember {
  readonly address: string;
  readonly host: RemoteHost;
  /** Environments that fail there. */
  readonly faults = new ResetFaults();
  /** Whether the list of addresses no longer names the server: it gets no new sessions. */
  isRemoved = false;
  /** Order of servers that are equal in all else. It is random, so that many clients do not all begin with the same server. */
  readonly tieBreak = Math.random();
  /** Error with which the server answers the probe, if it answers with one. */
  fault: unknown;
  readonly #logger: ConnectEnvironmentsOptions["logger"];
  readonly #onLost: () => void;
  readonly #backoff = new Backoff();
  /** Time of the latest request for the use, by environment. */
  readonly #refreshedAt = new Map<string, number>();
  #refreshing: { readonly startedAt: number; readonly wait: Promise<void> } | undefined;
  /** Time at which the server refused a session because it stops. */
  #stoppingAt = 0;
  /** Times at which the server refused a session because it is full, and until which it expects to be. */
  #full = { at: 0, until: 0 };

  constructor(server: ServerAddress, options: ConnectEnvironmentsOptions, onLost: () => void) {
    super();
    this.address = server.address;
    this.#logger = options.logger;
    this.#onLost = onLost;
    this.host = new RemoteHost(server, options, () => this.fail());
  }

  /** Returns the wait until the use of the server is known, at most 250 ms; `undefined` if it is known. */
  fresh(environment: EnvironmentRef): Promise<void> | undefined {
    if (!this.isServing) return undefined;
    const now = performance.now();
    if (this.#refreshing === undefined) {
      if (now - (this.#refreshedAt.get(environment.id) ?? -FRESH_MS) < FRESH_MS) return undefined;
      this.#refresh(environment, now);
    }
    // A server that takes long does not delay further sessions. It comes after the others until it answers.
    return this.#isSlow(now) ? undefined : this.#refreshing?.wait;
  }

  /** Compares two members for a session of an environment: below 0 if the first is preferred. */
  static compare(a: ServerMember, b: ServerMember, environment: EnvironmentRef): number {
    return (
      a.#rank(environment) - b.#rank(environment) ||
      b.#freeShare(environment) - a.#freeShare(environment) ||
      a.tieBreak - b.tieBreak
    );
  }

  /** Whether the server refused a call that another one may accept. */
  refused(error: unknown): boolean {
    const now = performance.now();
    if (MrlmError.hasCode(error, "RESOURCE_EXHAUSTED") && error.isRetryable) {
      this.#full = { at: now, until: now + (error.retryDelayMs ?? FRESH_MS) };
      return true;
    }
    if (MrlmError.hasCode(error, "SERVER_UNAVAILABLE")) {
      if (error.retryDelayMs !== undefined) this.#stoppingAt = now;
      return true;
    }
    return MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND", "PROTOCOL_VERSION", "TLS_FAILED", "UNAUTHENTICATED");
  }

  /** Whether a session stays on the server for its next episode. */
  isPreferred({ id }: EnvironmentRef): boolean {
    return !this.isStopping && !this.faults.isAvoided(id);
  }

  /** Whether the server opens no new sessions because it stops. */
  get isStopping(): boolean {
    const load = this.host.load;
    return load?.isDraining === true || this.#stoppingAt > (load?.at ?? 0);
  }

  /** Reason for which the server does not answer. */
  get reason(): string {
    return this.fault instanceof Error ? this.fault.message : this.host.failure;
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.host.close()]);
  }

  protected override async attempt(): Promise<number> {
    this.#reportAbsent();
    try {
      // Attempts to connect grow apart, with jitter, for as long as this call waits.
      await this.host.refresh(undefined, PROBE_MS);
      this.#backoff.reset();
      this.fault = undefined;
      this.#refreshedAt.clear();
      if (this.host.isConnected) {
        if (this.reported !== undefined)
          this.#logger?.info(`The environment server at ${this.address} answers. It gets sessions.`);
        await this.serve();
      }
      if (!this.closing.aborted) this.#onLost();
      return 0;
    } catch (error) {
      if (this.closing.aborted) return 0;
      this.fault = error;
      this.changed();
      return this.#backoff.next();
    }
  }

  /** Reports a server that does not answer soon. */
  #reportAbsent(): void {
    setTimeout(() => {
      if (this.isServing || this.closing.aborted || this.reported !== undefined) return;
      this.reported = "absent";
      this.#logger?.warn(`The environment server at ${this.address} gives no answer. It gets sessions when it does.`, {
        reason: this.reason,
      });
    }, ABSENT_MS).unref();
  }

  #rank(environment: EnvironmentRef): number {
    if (this.isStopping) return 3;
    if (this.faults.isAvoided(environment.id)) return 2;
    const now = performance.now();
    const { at, until } = this.#full;
    const isFull = now < until && !((this.host.load?.at ?? 0) > at && this.#freeShare(environment) > 0);
    return isFull || this.#isSlow(now) ? 1 : 0;
  }

  #freeShare({ id }: EnvironmentRef): number {
    return this.host.load?.freeShare(id, this.host.sessions) ?? 0;
  }

  #refresh(environment: EnvironmentRef, now: number): void {
    this.#refreshedAt.set(environment.id, now);
    const { promise: wait, resolve } = Promise.withResolvers<void>();
    this.#refreshing = { startedAt: now, wait };
    const timer = setTimeout(resolve, FRESH_WAIT_MS);
    this.host
      .refresh(environment, 0)
      // A lost server is found by the probe, an unknown environment by the session.
      .catch(() => undefined)
      .finally(() => {
        clearTimeout(timer);
        this.#refreshing = undefined;
        resolve();
      });
  }

  #isSlow(now: number): boolean {
    return this.#refreshing !== undefined && now - this.#refreshing.startedAt >= FRESH_WAIT_MS;
  }
}
