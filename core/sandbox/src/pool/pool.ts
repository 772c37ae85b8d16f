import { MrlmError, type SandboxLimits } from "@mrlm/spec";
import { detectJail } from "../jail/detect-jail.ts";
import type { Jail } from "../jail/launch.ts";
import type { SandboxBackend } from "../program/child-program.ts";
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
}

interface Waiting {
  start(child: Child): void;
  reject(error: Error): void;
}

/** Children that are started at first use, shared, and replaced when they are used up or dead. */
export class Pool {
  readonly #backend: SandboxBackend;
  readonly #options: PoolOptions;
  readonly #idle: Child[] = [];
  readonly #all = new Set<Child>();
  readonly #queue: Waiting[] = [];
  #starting = 0;
  #isClosed = false;

  constructor(backend: SandboxBackend, options: PoolOptions) {
    this.#backend = backend;
    this.#options = options;
  }

  /** Runs a task in an idle child, or waits for one. */
  async run(task: ChildTask, limits: SandboxLimits, signal?: AbortSignal): Promise<Outcome> {
    const child = await this.acquire(signal);
    try {
      const outcome = await child.exchange(task, limits, signal);
      if (outcome.isImposed || outcome.result.spent === true) child.kill();
      return outcome;
    } finally {
      this.release(child);
    }
  }

  /** A child that nobody else uses until `release`. */
  acquire(signal?: AbortSignal): Promise<Child> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(cancelledError());
    const idle = this.#takeIdle();
    if (idle !== undefined) return Promise.resolve(idle);
    if (this.#queue.length >= this.#options.queue) {
      return Promise.reject(
        new MrlmError("RESOURCE_EXHAUSTED", `${this.#queue.length} submissions already wait for the ${this.#backend.language} sandbox (${this.#options.children} children).`, { retryDelayMs: 1000 }),
      );
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(cancelledError());
      };
      const settled = (): void => signal?.removeEventListener("abort", onAbort);
      const waiting: Waiting = {
        start: (child) => (settled(), resolve(child)),
        reject: (error) => (settled(), reject(error)),
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(waiting);
      this.#startMissing(this.#queue.length);
    });
  }

  /** Gives a child back. A dead or worn one is replaced. */
  release(child: Child): void {
    const { maxRuns, maxGrowthBytes } = this.#options;
    if (child.isAlive && (child.runs >= maxRuns || child.grownBytes > maxGrowthBytes || this.#isClosed)) child.kill();
    if (!child.isAlive || this.#isClosed || !this.#all.has(child)) return;
    const next = this.#queue.shift();
    if (next === undefined) this.#idle.push(child);
    else next.start(child);
  }

  /** Starts all children. */
  async warm(): Promise<void> {
    await Promise.all(this.#startMissing(this.#options.children));
  }

  /** Ends all children and refuses whoever waits. Resolves when the processes are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(closedError());
    const all = [...this.#all];
    for (const child of all) child.kill();
    await Promise.all(all.map((child) => child.exited));
  }

  #takeIdle(): Child | undefined {
    for (let child = this.#idle.pop(); child !== undefined; child = this.#idle.pop()) if (child.isAlive) return child;
    return undefined;
  }

  /** Starts up to `wanted` children, as far as the pool has room. */
  #startMissing(wanted: number): Promise<void>[] {
    const room = this.#options.children - this.#all.size - this.#starting;
    return Array.from({ length: Math.max(0, Math.min(room, wanted - this.#starting)) }, () => this.#start());
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    try {
      const jail = await detectJail();
      const child = await Child.start(await this.#backend.program({ isJailed: jail.isJailed }), jail);
      this.#all.add(child);
      void child.exited.then(() => this.#forget(child));
      this.#starting -= 1;
      this.release(child);
    } catch (error) {
      this.#starting -= 1;
      // Whoever waits must hear of it; the next one tries again.
      for (const waiting of this.#queue.splice(0)) waiting.reject(error as Error);
    }
  }

  #forget(child: Child): void {
    this.#all.delete(child);
    const at = this.#idle.indexOf(child);
    if (at >= 0) this.#idle.splice(at, 1);
    if (!this.#isClosed) this.#startMissing(this.#queue.length);
  }
}

function closedError(): MrlmError {
  return new MrlmError("CANCELLED", "The sandbox is closed.");
}

function cancelledError(): MrlmError {
  return new MrlmError("CANCELLED", "The run in the sandbox was cancelled before it began.");
}

export type { Jail };
