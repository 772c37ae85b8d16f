import { type Demonstration, MrlmError, type TaskId } from "@mrlm/spec";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  EnvironmentServerState,
  OpenOptions,
} from "@mrlm/spec/host";
import { abortError, onAbort } from "../connection/aborts.ts";
import { PackageWatch } from "./package-watch.ts";
import { PoolMember } from "./pool-member.ts";
import { type PoolCall, PooledSession, type SessionPool } from "./pooled-session.ts";
import { Refusals, named } from "./refusals.ts";
import type { ConnectEnvironmentsOptions } from "./remote-host.ts";
import type { ServerAddress, ServerAddresses } from "./server-addresses.ts";

/** Longest wait of a call for one lost server of several. Then its session is lost, and another server takes the next episode. */
const MEMBER_WAIT_MS = 10_000;
/** Time that a server has to answer before it is reported as absent. */
const ABSENT_MS = 1_000;
/** Time between two resolutions of names. */
const RESOLVE_MS = 30_000;
/** Least time between two resolutions, however many servers are lost. */
const RESOLVE_SOONEST_MS = 1_000;

/**
 * Several servers as one host. An episode begins on the server with the largest free part of its places, among those that answer, offer
 * its environment and do not stop. If it refuses the episode, the next one gets it.
 */
export class HostPool implements EnvironmentHost, SessionPool {
  readonly #addresses: ServerAddresses;
  readonly #options: ConnectEnvironmentsOptions;
  readonly #reconnectMs: number;
  readonly #resolveMs: number;
  readonly #members = new Map<string, PoolMember>();
  readonly #packages: PackageWatch;
  readonly #reported = new Set<PoolMember>();
  readonly #closing = new AbortController();
  /** Calls that wait for a server. */
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #resolving: Promise<void> | undefined;
  #resolvedAt = -RESOLVE_SOONEST_MS;
  #resolveFault: MrlmError | undefined;

  /** @param resolveMs time between two resolutions of names in milliseconds */
  constructor(addresses: ServerAddresses, options: ConnectEnvironmentsOptions = {}, resolveMs = RESOLVE_MS) {
    const { reconnectMs = 60_000 } = options;
    this.#addresses = addresses;
    this.#options = { ...options, reconnectMs: Math.min(reconnectMs, MEMBER_WAIT_MS) };
    this.#reconnectMs = reconnectMs;
    this.#resolveMs = resolveMs;
    this.#packages = new PackageWatch(options.logger);
  }

  /**
   * Connects for the first time. Resolves when a server answers and the others have answered too or had a second for it.
   * @throws MrlmError SERVER_UNAVAILABLE when none answers within `connectMs`; any other error with which a server answers
   */
  async connect(connectMs: number): Promise<void> {
    const deadline = performance.now() + connectMs;
    let fault: unknown;
    this.#resolve().catch((error: unknown) => {
      fault = error;
      this.#changed();
    });
    for (let answered = Infinity; ;) {
      if (fault !== undefined) throw fault;
      const members = [...this.#members.values()];
      const refused = members.find(
        ({ fault }) => fault !== undefined && !MrlmError.hasCode(fault, "SERVER_UNAVAILABLE"),
      );
      if (refused !== undefined) throw named(refused.address, refused.fault);
      const now = performance.now();
      if (members.some(({ isReady }) => isReady)) answered = Math.min(answered, now);
      if (members.length > 0 && members.every(({ isReady }) => isReady)) return;
      if (now - answered >= ABSENT_MS) return;
      if (now >= deadline) throw this.#unreachable(connectMs);
      await this.#change(Math.min(deadline - now, answered + ABSENT_MS - now), []);
    }
  }

  /** Servers that answer. */
  get connected(): number {
    return Array.from(this.#members.values()).filter(({ isReady }) => isReady).length;
  }

  servers(): readonly EnvironmentServerState[] {
    return Array.from(this.#members.values(), ({ address, isReady }) => ({ address, isConnected: isReady }));
  }

  async list(): Promise<readonly EnvironmentDescription[]> {
    await this.#ready([], performance.now(), () => true);
    const lists = await Promise.allSettled(this.#ofInstances().map(({ host }) => host.list()));
    const found = lists.filter((list) => list.status === "fulfilled").map(({ value }) => value);
    if (found.length === 0) throw (lists[0] as PromiseRejectedResult).reason;
    const byId = new Map(
      found
        .flat()
        .toReversed()
        .map((description) => [description.id, description]),
    );
    return [...byId.values()].toReversed();
  }

  describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    return this.place({ environment, signals: [], work: ({ host }) => host.describe(environment) });
  }

  /** Opens a session. Its first reset chooses the server. */
  async open(environment: EnvironmentRef, { restores }: OpenOptions = {}): Promise<PooledSession> {
    return new PooledSession(environment, await this.describe(environment), this, restores);
  }

  demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]> {
    return this.place({ environment, signals: [], work: ({ host }) => host.demonstrate(environment, tasks) });
  }

  async close(): Promise<void> {
    this.#closing.abort(new MrlmError("CANCELLED", "The connection to the environment servers was closed."));
    clearTimeout(this.#timer);
    await Promise.all(Array.from(this.#members.values(), (member) => member.close()));
  }

  async place<T>({ environment, present, signals, work }: PoolCall<T>): Promise<T> {
    const since = performance.now();
    const refusals = new Refusals<PoolMember>();
    for (;;) {
      await this.#fresh(environment);
      const member = this.#choose(environment, refusals, present);
      if (member === undefined) {
        const mayOffer = [...this.#members.values()].some((other) => !other.isReady && !other.isRemoved);
        if (refusals.size > 0 && !(refusals.areOfUnknown && mayOffer)) throw refusals.error();
        try {
          await this.#ready(signals, since, (other) => !refusals.has(other));
        } catch (error) {
          const isRefused = refusals.size > 0 && MrlmError.hasCode(error, "SERVER_UNAVAILABLE");
          throw isRefused ? refusals.error() : error;
        }
        continue;
      }
      try {
        return await work(member);
      } catch (error) {
        if (!member.refused(error)) throw error;
        // A lost server may be found again by this call. One that answers with a refusal is not asked twice.
        if (member.isReady) refusals.add(member, member.address, error as MrlmError);
      }
    }
  }

  opened({ address }: PoolMember, description: EnvironmentDescription): void {
    this.#packages.note(address, description);
  }

  sweep(): void {
    for (const [address, member] of this.#members) {
      if (!member.isRemoved || member.host.sessions > 0) continue;
      this.#members.delete(address);
      this.#reported.delete(member);
      void member.close();
    }
  }

  #choose(
    environment: EnvironmentRef,
    refusals: Refusals<PoolMember>,
    present: PoolMember | undefined,
  ): PoolMember | undefined {
    const usable = this.#ofInstances().filter((member) => !refusals.has(member));
    if (present?.isPreferred(environment) === true && usable.includes(present)) return present;
    return usable.toSorted((a, b) => PoolMember.compare(a, b, environment))[0];
  }

  /** Returns the servers that answer, one for each process: a name may have several addresses of one. */
  #ofInstances(): PoolMember[] {
    const seen = new Set<string>();
    return Array.from(this.#members.values()).filter((member) => {
      if (!member.isReady || member.isRemoved) return false;
      const { instanceId = "" } = member.host.load ?? {};
      if (instanceId !== "" && seen.has(instanceId)) return false;
      seen.add(instanceId);
      return true;
    });
  }

  async #fresh(environment: EnvironmentRef): Promise<void> {
    const waits = Array.from(this.#members.values(), (member) => member.fresh(environment)).filter(
      (wait) => wait !== undefined,
    );
    if (waits.length > 0) await Promise.all(waits);
  }

  /** Waits until a server answers for which the condition holds. */
  async #ready(
    signals: readonly AbortSignal[],
    since: number,
    isWanted: (member: PoolMember) => boolean,
  ): Promise<void> {
    while (!this.#ofInstances().some(isWanted)) {
      const left = since + this.#reconnectMs - performance.now();
      if (left <= 0) throw this.#unreachable(this.#reconnectMs);
      await this.#change(left, signals);
    }
    // A server that is lost again and again does not keep a call for ever.
    if (performance.now() > since + this.#reconnectMs) throw this.#unreachable(this.#reconnectMs);
  }

  /** Waits until a server changes its state, at most for `milliseconds`. */
  async #change(milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const what = "A call to an environment server";
    const timer = setTimeout(resolve, Math.max(0, milliseconds));
    this.#waiting.add(resolve);
    const remove = onAbort([...signals, this.#closing.signal], (signal) => reject(abortError(what, signal)));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      remove();
      this.#waiting.delete(resolve);
    }
  }

  #changed(): void {
    for (const resolve of this.#waiting) resolve();
  }

  #resolve(): Promise<void> {
    return (this.#resolving ??= this.#update().finally(() => (this.#resolving = undefined)));
  }

  async #update(): Promise<void> {
    clearTimeout(this.#timer);
    let fault: MrlmError | undefined;
    const servers = await this.#addresses.resolve((error) => (fault = error));
    if (this.#closing.signal.aborted) return;
    this.#resolvedAt = performance.now();
    if (fault !== undefined && this.#resolveFault === undefined && this.#members.size > 0)
      this.#options.logger?.warn(`${fault.message} Its known servers are kept.`);
    this.#resolveFault = fault;
    for (const server of servers) this.#add(server);
    const present = new Set(servers.map(({ address }) => address));
    for (const member of this.#members.values()) {
      if (member.isRemoved || present.has(member.address)) continue;
      member.isRemoved = true;
      this.#options.logger?.info(`The environment server at ${member.address} was removed. It gets no new sessions.`);
    }
    this.sweep();
    this.#changed();
    const waitMs = fault === undefined ? this.#resolveMs : RESOLVE_SOONEST_MS;
    if (!this.#addresses.isFixed) this.#resolveIn(waitMs * (0.8 + 0.4 * Math.random()));
  }

  #resolveIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#resolve().catch((error: unknown) =>
        this.#options.logger?.warn("An added environment server cannot be used.", { reason: String(error) }),
      );
    }, milliseconds).unref();
  }

  #add(server: ServerAddress): void {
    const known = this.#members.get(server.address);
    if (known !== undefined) {
      known.isRemoved = false;
      return;
    }
    const member = new PoolMember(server, this.#options, {
      onReady: () => {
        if (this.#reported.delete(member))
          this.#options.logger?.info(`The environment server at ${member.address} answers. It gets sessions.`);
        this.#changed();
      },
      onLost: () => {
        this.#reportAbsent(member);
        if (this.#addresses.isFixed) return;
        this.#resolveIn(Math.max(0, this.#resolvedAt + RESOLVE_SOONEST_MS - performance.now()));
      },
      onFault: () => {
        this.#reportAbsent(member);
        this.#changed();
      },
    });
    if (this.#resolvedAt > 0 && !this.#addresses.isFixed)
      this.#options.logger?.info(`The environment server at ${member.address} was added.`);
    this.#members.set(server.address, member);
    this.#reportAbsent(member);
    void member.watch();
  }

  /** Reports a server that does not answer soon. */
  #reportAbsent(member: PoolMember): void {
    if (this.#options.logger === undefined || this.#reported.has(member)) return;
    setTimeout(() => {
      if (member.isReady || member.isClosed || this.#reported.has(member)) return;
      this.#reported.add(member);
      this.#options.logger?.warn(
        `The environment server at ${member.address} gives no answer. It gets sessions when it does.`,
        { reason: member.reason },
      );
    }, ABSENT_MS).unref();
  }

  #unreachable(waitedMs: number): MrlmError {
    if (this.#members.size === 0 && this.#resolveFault !== undefined) return this.#resolveFault;
    const members = [...this.#members.values()];
    const reasons = [
      ...members.map(({ address, reason }) => `${address}: ${reason}`),
      ...this.#addresses.unresolved.map((target) => `${target}: the name service has given no address.`),
    ];
    return new MrlmError(
      "SERVER_UNAVAILABLE",
      `None of ${reasons.length} environment servers could be reached for ${Math.round(waitedMs)} ms. ${reasons.join("; ")}`,
      { isRetryable: false },
    );
  }
}
