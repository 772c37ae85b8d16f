import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@mrlm/kit/service";
import { type Demonstration, type Logger, MrlmError, type TaskId } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { howItEnded, notStarted } from "./death.ts";
import { EnvironmentWorker, type StartWorker } from "./environment-worker.ts";
import type { WorkerEnd } from "./worker-end.ts";
import type { ForwardedClient } from "./forwarded-client.ts";
import { RoutedSessions, type SessionWorkers } from "./routed-sessions.ts";
import type { SessionLimits } from "../sessions/sessions.ts";
import { stopping } from "../sessions/stopping.ts";
import type { WorkerCalls } from "./worker-messages.ts";

/** Options of {@link startWorkers}. */
export interface WorkerPoolOptions extends SessionLimits {
  readonly count: number;
  readonly start: StartWorker;
  readonly logger?: Logger;
  /** Time in which a worker must load its plugins, in milliseconds. Default: 60,000. */
  readonly startMs?: number;
  /** Time without a sign of life after which a worker is ended, in milliseconds; longer than any deadline of a phase. Default: 90,000. */
  readonly silentMs?: number;
}

/** An environment is withdrawn after this many deaths of workers within the time. */
const MAX_DEATHS = 5;
const DEATHS_MS = 60_000;
/** Pause before a worker is started again: none, then growing while it ends again within the time above. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** Time for what a dead worker had sent to be read. A slow client reads it later. */
const DRAIN_MS = 500;
/** Time in which a worker ends by itself when the server stops, in milliseconds. */
const STOP_MS = 5_000;
/** Interval in which a replaced worker is checked for its last session. */
const RETIRE_CHECK_MS = 100;
/** Interval in which the sessions of the server process and of the workers are compared. */
const CHECK_MS = 10_000;
/** Delay that a call of a client states that arrives while no worker is ready. */
const RETRY_MS = 1_000;

/** Starts the workers of a server. Rejects with the reason if one cannot load its plugins. */
export async function startWorkers(options: WorkerPoolOptions): Promise<WorkerPool> {
  const pool = new WorkerPool(options);
  try {
    await pool.start();
  } catch (error) {
    await pool.stop(0);
    throw error;
  }
  return pool;
}

/** Processes that host the environments of a server. Each hosts all of them; one that ends is replaced. */
export class WorkerPool implements SessionWorkers {
  readonly sessions: RoutedSessions;
  /** Clients whose requests are forwarded. */
  readonly clients = new Set<ForwardedClient>();
  /** Starts of workers after the first of each. */
  restarts = 0;
  readonly #options: WorkerPoolOptions;
  readonly #logger: Logger;
  readonly #startMs: number;
  readonly #silentMs: number;
  /** Workers by their place; those that have ended are replaced. */
  readonly #workers: (EnvironmentWorker | undefined)[];
  readonly #listeners = new Set<(environment: string) => void>();
  readonly #waiting = new Set<() => void>();
  /** Workers that have no place yet. */
  readonly #starting = new Set<EnvironmentWorker>();
  /** Workers that hold their last sessions after they were replaced. */
  readonly #retired = new Set<EnvironmentWorker>();
  readonly #deaths = new Map<string, number[]>();
  readonly #withdrawn = new Map<string, MrlmError>();
  readonly #watch: NodeJS.Timeout;
  readonly #check: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #environments: readonly EnvironmentDescription[] = [];
  #expired = 0;
  /** Whether the packages may be those of a version that is not active. */
  #isUnchecked = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#startMs = options.startMs ?? 60_000;
    this.#silentMs = options.silentMs ?? 90_000;
    this.#workers = Array.from({ length: options.count });
    this.sessions = new RoutedSessions(this, options);
    this.#watch = setInterval(() => this.#endSilent(), Math.min(1_000, this.#silentMs / 4)).unref();
    this.#check = setInterval(() => this.sessions.check(), CHECK_MS).unref();
  }

  /** Descriptions of the environments when the workers started. */
  get environments(): readonly EnvironmentDescription[] {
    return this.#environments;
  }

  /** Leases that have ended. */
  get expired(): number {
    return this.#workers.reduce((sum, worker) => sum + (worker?.expired ?? 0), this.#expired);
  }

  /** Processes of the workers, with their sessions. */
  get processes(): readonly { readonly pid: number; readonly sessions: number }[] {
    return this.#workers.flatMap((worker) =>
      worker === undefined || worker.isDead ? [] : [{ pid: worker.process.pid, sessions: worker.sessions }],
    );
  }

  /** Host of the workers' environments for calls that concern no session. */
  get host(): EnvironmentHost {
    return {
      list: () => this.#call("list", []),
      describe: (environment) => this.#call("describe", [environment]),
      demonstrate: (
        environment: EnvironmentRef,
        tasks: readonly TaskId[],
        { signal } = {},
      ): Promise<readonly Demonstration[]> => this.#call("demonstrate", [environment, tasks], signal),
      open: () => Promise.reject(new Error("Sessions of workers are opened by requests.")),
      close: () => Promise.resolve(),
    };
  }

  /** Starts all workers, and waits until each is ready. */
  async start(): Promise<void> {
    const workers = this.#workers.map((_, place) => this.#place(place, this.#create(place)));
    const [first] = await Promise.all(
      workers.map((worker) =>
        worker.ready.catch((error: unknown) => {
          throw notStarted(worker, error);
        }),
      ),
    );
    this.#environments = first ?? [];
  }

  /** Calls the listener with each environment whose new sessions are refused from then on. */
  onWithdrawn(listener: (environment: string) => void): void {
    this.#listeners.add(listener);
  }

  environmentOf(name: string): { readonly id: string; readonly provider: string } {
    const found =
      this.#environments.find(({ id }) => id === name) ??
      this.#environments.findLast(({ id }) => id.slice(0, id.lastIndexOf("@")) === name);
    const { name: plugin, version } = found?.providedBy ?? {};
    return { id: found?.id ?? name, provider: plugin === undefined ? "" : ` (plugin ${plugin} ${version})` };
  }

  assertOffered(id: string): void {
    const withdrawn = this.#withdrawn.get(id);
    if (withdrawn !== undefined) throw withdrawn;
  }

  async choose(signal: AbortSignal): Promise<EnvironmentWorker> {
    const worker = this.#least() ?? (await this.#firstReady(signal));
    worker.sessions++;
    return worker;
  }

  /** Opens no new sessions, waits up to `graceMs` for the open ones, then ends the workers. */
  async stop(graceMs: number): Promise<void> {
    await this.sessions.drain(graceMs);
    this.#stopping.abort();
    clearInterval(this.#watch);
    clearInterval(this.#check);
    const workers = [...this.#workers, ...this.#starting, ...this.#retired].filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.#end(worker)));
  }

  /**
   * Replaces the workers by processes that load the present versions of the plugins. The first of them is checked before it takes a session; it rejects with
   * the reason, and the workers remain. The old ones get no new sessions from then on, and end with their last one or after `drainMs`.
   */
  async reload(drainMs: number): Promise<readonly EnvironmentDescription[]> {
    this.#isUnchecked = true;
    const first = this.#create(0);
    const environments = await this.#checked(first).catch((error: unknown) => {
      throw notStarted(first, error);
    });
    this.#isUnchecked = false;
    this.#environments = environments;
    this.#withdrawn.clear();
    this.#deaths.clear();
    const before = this.#workers.splice(0, this.#workers.length, ...this.#workers.map(() => undefined));
    this.#place(0, first);
    for (const old of before) if (old?.isDead === false) void this.#retire(old, drainMs);
    for (let place = 1; place < this.#workers.length && !this.sessions.isDraining; place++) {
      const worker = this.#place(place, this.#create(place));
      await worker.ready.catch((error: Error) => this.#startFailed(worker, error));
    }
    return environments;
  }

  /** Waits until a worker is ready and, if its packages may not be the active ones, has begun an episode of each environment. Ends it when it fails. */
  async #checked(worker: EnvironmentWorker): Promise<readonly EnvironmentDescription[]> {
    try {
      const environments = await worker.ready;
      if (this.#isUnchecked) await worker.call("probe", []);
      if (this.sessions.isDraining) throw stopping("replaces no workers");
      return environments;
    } catch (error) {
      worker.process.kill();
      throw error;
    }
  }

  /** Gives a place to a worker, which takes sessions as soon as it is ready. */
  #place(place: number, worker: EnvironmentWorker): EnvironmentWorker {
    this.#starting.delete(worker);
    this.#workers[place] = worker;
    for (const wake of this.#waiting) wake();
    return worker;
  }

  /** Ends a worker with its last session, or after a time. */
  async #retire(worker: EnvironmentWorker, drainMs: number): Promise<void> {
    this.#retired.add(worker);
    const endsAt = performance.now() + drainMs;
    while (worker.sessions > 0 && !worker.isDead && !this.#stopping.signal.aborted && performance.now() < endsAt)
      await sleep(RETIRE_CHECK_MS);
    if (!this.#stopping.signal.aborted) await this.#end(worker);
    this.#retired.delete(worker);
  }

  async #end(worker: EnvironmentWorker): Promise<void> {
    if (worker.isDead) return;
    worker.isStopping = true;
    worker.send({ type: "stop" });
    const timer = setTimeout(() => worker.process.kill(), worker.isReady ? STOP_MS : 0);
    await worker.process.ended;
    clearTimeout(timer);
  }

  #create(place: number): EnvironmentWorker {
    const name = `worker ${place + 1}`;
    const worker = new EnvironmentWorker(name, this.#options.start(name), {
      startMs: this.#startMs,
      onEnded: (from, keys) => this.sessions.ended(from, keys),
    });
    this.#starting.add(worker);
    worker.ready.then(
      () => {
        for (const wake of this.#waiting) wake();
      },
      () => worker.process.kill(),
    );
    void worker.process.ended.then((end) => this.#ended(place, worker, end));
    return worker;
  }

  async #ended(place: number, worker: EnvironmentWorker, end: WorkerEnd): Promise<void> {
    this.#starting.delete(worker);
    for (const waited = performance.now(); !worker.isDrained && performance.now() - waited < DRAIN_MS;) await sleep(5);
    const underWay = new Set([...this.clients].flatMap((client) => [...client.underWay(worker)]));
    const lost = worker.sessions;
    const { environments, death } = this.sessions.lose(worker, end, underWay);
    this.#expired += worker.expired;
    worker.expired = 0;
    if (this.#stopping.signal.aborted) return worker.settle({ errorOf: () => stopping("ends its sessions") });
    worker.settle(death);
    const isPlaced = this.#workers[place] === worker;
    // A worker that was not accepted, or that was replaced and had its last session.
    if (worker.isStopping || (!isPlaced && !this.#retired.has(worker))) return;
    this.#logger.warn(`${worker.name} ended ${howItEnded(end)}; ${lost} sessions ended with it.`, {
      ...(environments.size > 0 && { environments: [...environments].join(", ") }),
    });
    for (const environment of environments) this.#countDeath(environment, end);
    if (isPlaced) this.#replaceLater(place, worker);
  }

  /** Replaces a worker that has ended, after a pause. */
  #replaceLater(place: number, worker: EnvironmentWorker): void {
    const deaths = this.#record(`worker ${place}`);
    const pause = deaths === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (deaths - 2));
    const timer = setTimeout(() => void this.#replaceNow(place, worker), pause);
    this.#stopping.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  async #replaceNow(place: number, worker: EnvironmentWorker): Promise<void> {
    const isWanted = (): boolean => !this.sessions.isDraining && this.#workers[place] === worker;
    if (!isWanted()) return;
    this.restarts++;
    this.sessions.metrics.restarted();
    const next = this.#create(place);
    try {
      await this.#checked(next);
    } catch (error) {
      this.#startFailed(next, error as Error);
      if (isWanted()) this.#replaceLater(place, worker);
      return;
    }
    // A reload has given the place to another one meanwhile.
    if (!isWanted()) return next.process.kill();
    this.#place(place, next);
    this.#logger.info(`${next.name} is ready again.`);
  }

  #startFailed({ name }: EnvironmentWorker, { message }: Error): void {
    // A server that stops ends its workers, also those that are not ready.
    if (!this.sessions.isDraining) this.#logger.error(`${name} could not be started again: ${message}`);
  }

  #countDeath(environment: string, end: WorkerEnd): void {
    const deaths = this.#record(environment);
    if (deaths < MAX_DEATHS || this.#withdrawn.has(environment)) return;
    const { provider } = this.environmentOf(environment);
    const message = `Environment ${environment}${provider} has been withdrawn: it was at work at ${deaths} deaths of workers within ${DEATHS_MS / 1000} s, the last of which ended ${howItEnded(end)}.`;
    const hint = "Correct the plugin and restart the server. The output of the workers is in that of the server.";
    this.#withdrawn.set(environment, new MrlmError("ENVIRONMENT_FAILED", message, { isRetryable: false, hint }));
    this.#logger.error(message, { hint });
    for (const listener of this.#listeners) listener(environment);
  }

  /** Records a death. @returns the number of deaths within the time */
  #record(key: string): number {
    const now = performance.now();
    const deaths = [...(this.#deaths.get(key) ?? []).filter((at) => now - at < DEATHS_MS), now];
    this.#deaths.set(key, deaths);
    return deaths.length;
  }

  #least(): EnvironmentWorker | undefined {
    let least: EnvironmentWorker | undefined;
    for (const worker of this.#workers)
      if (worker?.isReady === true && (least === undefined || worker.sessions < least.sessions)) least = worker;
    return least;
  }

  async #firstReady(signal: AbortSignal): Promise<EnvironmentWorker> {
    const { promise, resolve, reject } = Promise.withResolvers<EnvironmentWorker>();
    const wake = (): void => {
      const worker = this.#least();
      if (worker !== undefined) resolve(worker);
    };
    const none = (): MrlmError =>
      new MrlmError("RESOURCE_EXHAUSTED", "No worker of the server is ready; they are being started again.", {
        retryDelayMs: RETRY_MS,
      });
    const timer = setTimeout(() => reject(none()), this.#options.queueMs ?? 30_000);
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.add(wake);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#waiting.delete(wake);
    }
  }

  /** Calls a worker; another one when it ends meanwhile, once. */
  async #call<M extends keyof WorkerCalls>(
    method: M,
    given: Parameters<WorkerCalls[M]>,
    signal: AbortSignal = this.#stopping.signal,
  ): Promise<Awaited<ReturnType<WorkerCalls[M]>>> {
    for (let attempt = 1; ; attempt++) {
      const worker = this.#least() ?? (await this.#firstReady(signal));
      try {
        return await worker.call(method, given, signal);
      } catch (error) {
        if (MrlmError.isInstance(error)) throw error;
        if (attempt < 2) continue;
        const { id, provider } = this.environmentOf((given[0] as EnvironmentRef | undefined)?.id ?? "");
        throw new MrlmError(
          "ENVIRONMENT_FAILED",
          `Two workers ended during a call to ${method}${id === "" ? "" : ` for environment ${id}${provider}`}.`,
          { isRetryable: false },
        );
      }
    }
  }

  /** Ends workers whose event loop has not advanced: code outside of any phase blocks them. */
  #endSilent(): void {
    const now = performance.now();
    for (const worker of this.#workers)
      if (worker?.isReady === true && now - worker.aliveAt > this.#silentMs)
        worker.process.kill(`its event loop was blocked for ${Math.round((now - worker.aliveAt) / 1000)} s`);
  }
}
