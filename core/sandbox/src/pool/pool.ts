import { MrlmError, type SandboxLimits } from "@mrlm/spec";
import { detectJail } from "../jail/detect-jail.ts";
import type { Jail } from "../jail/launch.ts";
import type { ChildProgram, SandboxBackend } from "../program/child-program.ts";
import type { ChildTask } from "../protocol/messages.ts";
import { Child } from "./child.ts";
import type { Outcome } from "./exchange.ts";

/** Sizes of a pool. */
export interface PoolOptions {
  /** Children that run submissions at the same time. */
  readonly children: number;
  /** Submissions that may wait; one more is refused. */
  readonly queue: number;
  /** A child is replaced after this many runs, */
  readonly maxRuns: number;
  /** or when it has grown by this much and is idle. */
  readonly maxGrowthBytes: number;
  /** The memory limit of most submissions: new children are prepared for it. */
  readonly memoryBytes: number;
  /** A child that has ended is replaced before somebody asks for it. */
  readonly keepsWarm: boolean;
  /** Its children are sessions'. */
  readonly isForSessions: boolean;
}

interface Waiting {
  start(child: Child): void;
  reject(error: Error): void;
}

/** Children that are started at first use, shared, and replaced when they are worn or dead. */
export class Pool {
  readonly #backend: SandboxBackend;
  readonly #options: PoolOptions;
  readonly #idle: Child[] = [];
  /** Processes that have not ended. */
  readonly #all = new Set<Child>();
  readonly #queue: Waiting[] = [];
  /** Starts under way; each settles with what went wrong. */
  readonly #starting = new Set<Promise<Error | undefined>>();
  /** Processes that have not ended, and starts that have no process yet. */
  #count = 0;
  #isClosed = false;

  constructor(backend: SandboxBackend, options: PoolOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  /** Runs a task in an idle child, or waits for one. A child that breaks down may owe it to an earlier submission: then the task runs once more. */
  async run(task: ChildTask, limits: SandboxLimits, signal?: AbortSignal): Promise<Outcome> {
    const first = await this.#runOnce(task, limits, signal);
    const isSuspect = first.outcome.isImposed && first.outcome.result.verdict === "killed" && first.wasUsed;
    return isSuspect ? (await this.#runOnce(task, limits, signal)).outcome : first.outcome;
  }

  async #runOnce(
    task: ChildTask,
    limits: SandboxLimits,
    signal?: AbortSignal,
  ): Promise<{ readonly outcome: Outcome; readonly wasUsed: boolean }> {
    const child = await this.acquire(signal);
    const wasUsed = child.runs > 0;
    try {
      const outcome = await child.exchange(task, limits, signal === undefined ? {} : { signal });
      if (outcome.isImposed || outcome.result.spent === true) child.kill();
      return { outcome, wasUsed };
    } finally {
      this.release(child);
    }
  }

  /** A child that nobody else uses until `release`. */
  acquire(signal?: AbortSignal): Promise<Child> {
    if (this.#isClosed) return Promise.reject(closed());
    if (signal?.aborted === true) return Promise.reject(cancelled());
    const idle = this.#idle.pop();
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

  /** Gives a child back. A dead or worn one is replaced. */
  release(child: Child): void {
    const { maxRuns, maxGrowthBytes } = this.#options;
    if (child.isAlive && (child.runs >= maxRuns || child.grownBytes > maxGrowthBytes)) child.kill();
    if (!child.isAlive) return;
    const next = this.#queue.shift();
    if (next === undefined) this.#idle.push(child);
    else next.start(child);
  }

  /** Starts all children. */
  async warm(): Promise<void> {
    this.#startUpTo(Number.POSITIVE_INFINITY);
    for (const failure of await Promise.all(this.#starting)) if (failure !== undefined) throw failure;
  }

  /** Ends all children and refuses whoever waits. Resolves when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(closed());
    for (const child of this.#all) child.kill();
    await Promise.all([...this.#starting, ...[...this.#all].map((child) => child.exited)]);
  }

  /** Starts children until `wanted` are on their way, as far as there is room. */
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
      // Whoever waits must hear of it; the next one tries again.
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
    this.#count -= 1;
    const at = this.#idle.indexOf(child);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#isClosed) return;
    // One that could not even be made ready is not tried again and again.
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
