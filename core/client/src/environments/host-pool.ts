import { type Demonstration, MrlmError, type TaskId } from "@mrlm/spec";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  EnvironmentServerState,
  OpenOptions,
} from "@mrlm/spec/host";
import { MemberPool } from "../connection/member-pool.ts";
import { PackageWatch } from "./package-watch.ts";
import { type PoolCall, PooledSession, type SessionPool } from "./pooled-session.ts";
import { Refusals, named } from "./refusals.ts";
import type { ConnectEnvironmentsOptions } from "./remote-host.ts";
import type { ServerAddress, ServerAddresses } from "./server-addresses.ts";
import { ABSENT_MS, ServerMember } from "./server-member.ts";

/** Longest wait of a call for one lost server of several. Then its session is lost, and another server takes the next episode. */
const MEMBER_WAIT_MS = 10_000;
/** Name of a call in the errors of its wait for a server. */
const CALL = "A call to an environment server";
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
  readonly #members = new MemberPool<ServerMember>();
  readonly #packages: PackageWatch;
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
      this.#members.changed();
    });
    for (let answered = Infinity; ;) {
      if (fault !== undefined) throw fault;
      const members = this.#members.all;
      const refused = members.find(
        ({ fault }) => fault !== undefined && !MrlmError.hasCode(fault, "SERVER_UNAVAILABLE"),
      );
      if (refused !== undefined) throw named(refused.address, refused.fault);
      const now = performance.now();
      if (this.connected > 0) answered = Math.min(answered, now);
      if (members.length > 0 && this.connected === members.length) return;
      if (now - answered >= ABSENT_MS) return;
      if (now >= deadline) throw this.#unreachable(connectMs);
      await this.#members.waitForChange(Math.min(deadline - now, answered + ABSENT_MS - now), [], CALL);
    }
  }

  /** Servers that answer. */
  get connected(): number {
    return this.#members.serving.length;
  }

  servers(): readonly EnvironmentServerState[] {
    return this.#members.all.map(({ address, isServing }) => ({ address, isConnected: isServing }));
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
    clearTimeout(this.#timer);
    await this.#members.close(new MrlmError("CANCELLED", "The connection to the environment servers was closed."));
  }

  async place<T>({ environment, present, signals, work }: PoolCall<T>): Promise<T> {
    const since = performance.now();
    const refusals = new Refusals<ServerMember>();
    for (;;) {
      await this.#fresh(environment);
      const member = this.#choose(environment, refusals, present);
      if (member === undefined) {
        const mayOffer = this.#members.all.some((other) => !other.isServing && !other.isRemoved);
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
        if (member.isServing) refusals.add(member, member.address, error as MrlmError);
      }
    }
  }

  opened({ address }: ServerMember, description: EnvironmentDescription): void {
    this.#packages.note(address, description);
  }

  sweep(): void {
    for (const { address, isRemoved, host } of this.#members.all)
      if (isRemoved && host.sessions === 0) void this.#members.remove(address);
  }

  #choose(
    environment: EnvironmentRef,
    refusals: Refusals<ServerMember>,
    present: ServerMember | undefined,
  ): ServerMember | undefined {
    const usable = this.#ofInstances().filter((member) => !refusals.has(member));
    if (present?.isPreferred(environment) === true && usable.includes(present)) return present;
    return usable.toSorted((a, b) => ServerMember.compare(a, b, environment))[0];
  }

  /** Returns the servers that answer, one for each process: a name may have several addresses of one. */
  #ofInstances(): ServerMember[] {
    const seen = new Set<string>();
    return this.#members.serving.filter((member) => {
      if (member.isRemoved) return false;
      const { instanceId = "" } = member.host.load ?? {};
      if (instanceId !== "" && seen.has(instanceId)) return false;
      seen.add(instanceId);
      return true;
    });
  }

  async #fresh(environment: EnvironmentRef): Promise<void> {
    const waits = this.#members.all.map((member) => member.fresh(environment)).filter((wait) => wait !== undefined);
    if (waits.length > 0) await Promise.all(waits);
  }

  /** Waits until a server answers for which the condition holds. */
  async #ready(
    signals: readonly AbortSignal[],
    since: number,
    isWanted: (member: ServerMember) => boolean,
  ): Promise<void> {
    while (!this.#ofInstances().some(isWanted)) {
      const left = since + this.#reconnectMs - performance.now();
      if (left <= 0) throw this.#unreachable(this.#reconnectMs);
      await this.#members.waitForChange(left, signals, CALL);
    }
    // A server that is lost again and again does not keep a call for ever.
    if (performance.now() > since + this.#reconnectMs) throw this.#unreachable(this.#reconnectMs);
  }

  #resolve(): Promise<void> {
    return (this.#resolving ??= this.#update().finally(() => (this.#resolving = undefined)));
  }

  async #update(): Promise<void> {
    clearTimeout(this.#timer);
    let fault: MrlmError | undefined;
    const servers = await this.#addresses.resolve((error) => (fault = error));
    if (this.#members.closing.aborted) return;
    this.#resolvedAt = performance.now();
    if (fault !== undefined && this.#resolveFault === undefined && this.#members.all.length > 0)
      this.#options.logger?.warn(`${fault.message} Its known servers are kept.`);
    this.#resolveFault = fault;
    for (const server of servers) this.#add(server);
    const present = new Set(servers.map(({ address }) => address));
    for (const member of this.#members.all) {
      if (member.isRemoved || present.has(member.address)) continue;
      member.isRemoved = true;
      this.#options.logger?.info(`The environment server at ${member.address} was removed. It gets no new sessions.`);
    }
    this.sweep();
    this.#members.changed();
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
    const member = new ServerMember(server, this.#options, () => {
      if (this.#addresses.isFixed) return;
      this.#resolveIn(Math.max(0, this.#resolvedAt + RESOLVE_SOONEST_MS - performance.now()));
    });
    if (this.#resolvedAt > 0 && !this.#addresses.isFixed)
      this.#options.logger?.info(`The environment server at ${member.address} was added.`);
    this.#members.add(server.address, member);
  }

  #unreachable(waitedMs: number): MrlmError {
    const members = this.#members.all;
    if (members.length === 0 && this.#resolveFault !== undefined) return this.#resolveFault;
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
