import { MrlmError, type SandboxLimits } from "@mrlm/spec";
import type { SandboxCallOptions } from "@mrlm/spec/host";
import { detectJail } from "../jail/detect-jail.ts";
import type { Jail } from "../jail/launch.ts";
import type { ChildProgram, SandboxBackend } from "../program/child-program.ts";
import type { ChildTask } from "../protocol/messages.ts";
import { Child } from "./child.ts";
import type { Outcome } from "./exchange.ts";

/** Sizes of a pool. */
export interface PoolOptions {
  /** Number of children that run submissions at the same time. */
  readonly children: number;
  /** Number of submissions that may wait; the pool refuses more. */
  readonly queue: number;
  /** Runs after which a child is replaced. */
  readonly maxRuns: number;
  /** Growth of an idle child after which it is replaced. */
  readonly maxGrowthBytes: number;
  /** Memory limit of most submissions, for which new children are prepared. */
  readonly memoryBytes: number;
  /** Whether a child that has ended is replaced before the next request. */
  readonly keepsWarm: boolean;
  /** Milliseconds after which an idle child is ended. */
  readonly idleMs: number;
  /** Whether its children serve sessions. */
  readonly isForSessions: boolean;
}

interface Waiting {
  start(child: Child): void;
  reject(error: Error): void;
}

/** Pool of children that start at first use and are replaced when they are used up or have ended. */
export class Pool {
  readonly #backend: SandboxBackend;
  readonly #options: PoolOptions;
  readonly #idle: Child[] = [];
  /** Timers of the idle children. */
  readonly #spare = new Map<Child, NodeJS.Timeout>();
  /** Processes that have not exited. */
  readonly #all = new Set<Child>();
  readonly #queue: Waiting[] = [];
  /** Starts in progress; each settles with its error. */
  readonly #starting = new Set<Promise<Error | undefined>>();
  /** Number of processes that have not exited, and of starts without a process. */
  #count = 0;
  #isClosed = false;

  constructor(backend: SandboxBackend, options: PoolOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  /** Runs a task in an idle child, or waits for one. If the child fails, an earlier submission may be the cause, so the task runs once more. */
  async run(task: ChildTask, limits: SandboxLimits, options: SandboxCallOptions = {}): Promise<Outcome> {
    const first = await this.#runOnce(task, limits, options);
    const isSuspect = first.outcome.isImposed && first.outcome.result.verdict === "killed" && first.wasUsed;
    return isSuspect ? (await this.#runOnce(task, limits, options)).outcome : first.outcome;
  }

  async #runOnce(
    task: ChildTask,
    limits: SandboxLimits,
    options: SandboxCallOptions,
  ): Promise<{ readonly outcome: Outcome; readonly wasUsed: boolean }> {
    const child = await this.acquire(options);
    const wasUsed = child.runs > 0;
    const { signal } = options;
    try {
      const outcome = await child.exchange(task, limits, signal === undefined ? {} : { signal });
      if (outcome.isImposed || outcome.result.spent === true) child.kill();
      return { outcome, wasUsed };
    } finally {
      this.release(child);
    }
  }

  /** Returns a child for exclusive use until `release`; waits in `queued` while none is idle. */
  async acquire({ signal, queued = (wait) => wait() }: SandboxCallOptions = {}): Promise<Child> {
    if (signal?.aborted !== true) {
      const idle = this.#takeIdle();
      if (idle !== undefined) return idle;
    }
    return await queued(() => this.#wait(signal));
  }

  #wait(signal: AbortSignal | undefined): Promise<Child> {
    if (this.#isClosed) return Promise.reject(closed());
    if (signal?.aborted === true) return Promise.reject(cancelled());
    // A caller's `queued` may begin the wait later.
    const idle = this.#takeIdle();
    if (idle !== undefined) return Promise.resolve(idle);
    if (this.#count >= this.#options.children && this.#queue.length >= this.#options.queue)
      return Promise.reject(this.#full());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(cancelled());
      };
      const settled = (): void => signal?.removeEventListener("abort", onAbort);
      const waiting: Waiting = {
        start: (child) => (settled(), resolve(child)),
        reject: (error) => (settled(), reject(error)),
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(waiting);
      this.#startUpTo(this.#queue.length);
    });
  }

  /** Returns a child to the pool. Replaces it if it has ended or is used up. */
  release(child: Child): void {
    const { maxRuns, maxGrowthBytes } = this.#options;
    if (child.isAlive && (child.runs >= maxRuns || child.grownBytes > maxGrowthBytes)) child.kill();
    if (!child.isAlive) return;
    const next = this.#queue.shift();
    if (next !== undefined) return next.start(child);
    this.#idle.push(child);
    const { idleMs } = this.#options;
    if (idleMs < Number.POSITIVE_INFINITY) this.#spare.set(child, setTimeout(() => child.kill(), idleMs).unref());
  }

  /** Takes an idle child. One that has been killed may not have exited yet. */
  #takeIdle(): Child | undefined {
    for (let child = this.#idle.pop(); child !== undefined; child = this.#idle.pop()) {
      this.#stopTimer(child);
      if (child.isAlive) return child;
    }
    return undefined;
  }

  #stopTimer(child: Child): void {
    clearTimeout(this.#spare.get(child));
    this.#spare.delete(child);
  }

  /** Starts all children. */
  async warm(): Promise<void> {
    this.#startUpTo(Number.POSITIVE_INFINITY);
    for (const failure of await Promise.all(this.#starting)) if (failure !== undefined) throw failure;
  }

  /** Ends all children and rejects waiting tasks. Resolves when the processes have exited. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(closed());
    for (const child of this.#all) child.kill();
    await Promise.all([...this.#starting, ...[...this.#all].map((child) => child.exited)]);
  }

  /** Starts children until `wanted` are starting, up to the limit. */
  #startUpTo(wanted: number): void {
    for (let count = Math.min(wanted - this.#starting.size, this.#options.children - this.#count); count > 0; count--) {
      this.#count += 1;
      const start = this.#start().finally(() => this.#starting.delete(start));
      this.#starting.add(start);
    }
  }

  async #start(): Promise<Error | undefined> {
    try {
      const child = new Child(...(await this.#launch()));
      this.#all.add(child);
      void child.exited.then(() => this.#forget(child));
      if (this.#isClosed) child.kill();
      await child.ready(this.#options.memoryBytes);
      this.release(child);
      return undefined;
    } catch (error) {
      // Reject the waiting tasks; the next task tries again.
      for (const waiting of this.#queue.splice(0)) waiting.reject(error as Error);
      return error as Error;
    }
  }

  async #launch(): Promise<[ChildProgram, Jail]> {
    try {
      const jail = await detectJail();
      return [
        await this.#backend.program({ isJailed: jail.isJailed, isForSession: this.#options.isForSessions }),
        jail,
      ];
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }

  #forget(child: Child): void {
    this.#all.delete(child);
    this.#stopTimer(child);
    this.#count -= 1;
    const at = this.#idle.indexOf(child);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#isClosed) return;
    // Do not retry a child that never became ready.
    const spare = this.#options.keepsWarm && child.runs > 0 ? 1 : 0;
    this.#startUpTo(Math.max(spare, this.#queue.length));
  }

  #full(): MrlmError {
    const { children } = this.#options;
    const message = `${this.#queue.length} submissions already wait for the ${this.#backend.language} sandbox, which runs ${children} at a time.`;
    return new MrlmError("RESOURCE_EXHAUSTED", message, { retryDelayMs: 1000 });
  }
}

function closed(): MrlmError {
  return new MrlmError("CANCELLED", "The sandbox is closed.");
}

function cancelled(): MrlmError {
  return new MrlmError("CANCELLED", "The run in the sandbox was cancelled before it began.");
}
