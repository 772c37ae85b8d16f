import { Worker } from "node:worker_threads";
import { untilAborted } from "../until-aborted.ts";
import { type JobMessage, type JobResult, type Jobs, READY } from "./jobs.ts";

/** Limits of the worker threads. */
export interface WorkerLimits {
  readonly threads: number;
  /** CPU time of one job. */
  readonly cpuMs: number;
  /** JavaScript heap of one thread in MiB. */
  readonly memoryMib: number;
}

/** The job exceeded its limits, or its thread failed. The thread was replaced. */
export class WorkerFailure extends Error {
  override readonly name = "WorkerFailure";
}

export interface JobOptions {
  readonly signal: AbortSignal;
  /** Waits for a free thread. */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
  /** CPU time of this job; default that of the pool. */
  readonly cpuMs?: number;
}

/** A thread may get little CPU time on a busy machine. The job fails after this multiple of its CPU time. */
const WALL_FACTOR = 15;
const YOUNG_MIB = 8;
const IDLE_MS = 30_000;

/**
 * Pool of worker threads that start when they are needed, end after 30 s without work, and do not keep the process alive between jobs. A job that exceeds
 * its CPU time or memory ends its thread.
 */
export class WorkerPool {
  readonly #limits: WorkerLimits;
  readonly #idle: Thread[] = [];
  readonly #waiting: ((thread: Thread) => void)[] = [];
  #threads = 0;
  #isClosed = false;

  constructor(limits: WorkerLimits) {
    this.#limits = limits;
  }

  /** Runs a job. Rejects with WorkerFailure, or with the reason of the signal. The job itself continues after an abort, within its limits. */
  async run<Name extends keyof Jobs>(
    name: Name,
    input: Jobs[Name]["input"],
    { signal, queued = (wait) => wait(), cpuMs = this.#limits.cpuMs }: JobOptions,
  ): Promise<Jobs[Name]["output"]> {
    const thread = await queued(() => this.#take(signal));
    const work = this.#work(thread, { name, input } as JobMessage, cpuMs);
    return (await untilAborted(work, signal)) as Jobs[Name]["output"];
  }

  /** Ends idle threads. Threads at work end after their job. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#idle.splice(0).map((thread) => this.#end(thread)));
  }

  /** Waits for a free thread that has loaded its modules. */
  async #take(signal: AbortSignal): Promise<Thread> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Thread>();
    const abort = (): void => {
      const index = this.#waiting.indexOf(resolve);
      if (index < 0) return; // a thread is on its way, and is given back below
      this.#waiting.splice(index, 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#waiting.push(resolve);
    this.#assign();
    try {
      const thread = await promise;
      try {
        await thread.start();
        signal.throwIfAborted();
        return thread;
      } catch (error) {
        this.#giveBack(thread);
        throw error;
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #work(thread: Thread, job: JobMessage, cpuMs: number): Promise<unknown> {
    try {
      return await thread.run(job, cpuMs);
    } finally {
      this.#giveBack(thread);
    }
  }

  #giveBack(thread: Thread): void {
    if (thread.hasEnded || this.#isClosed) void this.#end(thread);
    else {
      this.#idle.push(thread);
      thread.onIdle(IDLE_MS, () => {
        this.#idle.splice(this.#idle.indexOf(thread), 1);
        void this.#end(thread);
      });
    }
    this.#assign();
  }

  /** Passes threads to those who wait. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      let thread = this.#idle.pop();
      if (thread?.hasEnded === true) {
        void this.#end(thread);
        continue;
      }
      if (thread === undefined) {
        if (this.#threads === this.#limits.threads) return;
        thread = new Thread(this.#limits);
        this.#threads++;
      }
      this.#waiting.shift()?.(thread);
    }
  }

  async #end(thread: Thread): Promise<void> {
    this.#threads--;
    await thread.end();
  }
}

class Thread {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<void>();
  /** The thread takes no further job: it failed, or its state after a failed job is not known. */
  hasEnded = false;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Ends the job in progress, if there is one. */
  #settle: (result: JobResult | WorkerFailure) => void = () => undefined;

  constructor(limits: WorkerLimits) {
    const file = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker/worker.js";
    this.#worker = new Worker(new URL(file, import.meta.url), {
      env: {},
      execArgv: ["--no-warnings"],
      name: "mrlm-tool-web",
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMib - YOUNG_MIB, maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    this.#worker.on("message", (message: JobResult | typeof READY) => {
      if (message === READY) this.#ready.resolve();
      else this.#settle(message);
    });
    const fail = (message: string, cause?: unknown): void => {
      const failure = new WorkerFailure(message, { cause });
      this.hasEnded = true;
      this.#ready.reject(failure);
      this.#settle(failure);
    };
    this.#worker.on("error", (error) => fail(error.message, error));
    this.#worker.on("exit", () => fail("The thread ended."));
    this.#ready.promise.catch(() => undefined); // `start` receives it too
  }

  /** Waits until the modules of the thread are loaded. The process then stays alive for its job. */
  async start(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#worker.ref();
    await this.#ready.promise;
  }

  /** Runs a job. A job that exceeds its limits ends the thread. */
  async run(job: JobMessage, cpuMs: number): Promise<unknown> {
    if (this.hasEnded) throw new WorkerFailure("The thread ended.");
    const { promise, resolve } = Promise.withResolvers<JobResult | WorkerFailure>();
    this.#settle = resolve;
    const stop = this.#watch(cpuMs);
    this.#worker.postMessage(job);
    const result = await promise;
    stop();
    if (!(result instanceof WorkerFailure) && "output" in result) return result.output;
    this.hasEnded = true;
    throw result instanceof WorkerFailure ? result : new WorkerFailure(result.error);
  }

  onIdle(delayMs: number, callback: () => void): void {
    this.#worker.unref();
    this.#idleTimer = setTimeout(callback, delayMs).unref();
  }

  async end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#worker.terminate();
  }

  /** Ends the job when the thread exceeds its CPU time, or has no CPU time for long. */
  #watch(cpuMs: number): () => void {
    const begin = performance.now();
    const settle = this.#settle; // a late check must not end the next job
    let base: number | undefined;
    const check = async (): Promise<void> => {
      const used = await this.#cpuMs();
      base ??= used;
      const isLate = performance.now() - begin > cpuMs * WALL_FACTOR;
      if (!isLate && (used === undefined || base === undefined || used - base <= cpuMs)) return;
      settle(new WorkerFailure(`The work took more than ${cpuMs} ms of CPU time.`));
    };
    void check();
    const timer = setInterval(() => void check(), Math.max(20, cpuMs / 20));
    return () => {
      clearInterval(timer);
      this.#settle = () => undefined;
    };
  }

  /** Returns the CPU time of the thread; undefined if it is blocked in native code. */
  async #cpuMs(): Promise<number | undefined> {
    const usage = this.#worker.cpuUsage().then(
      ({ user, system }) => (user + system) / 1000,
      () => undefined,
    );
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 200).unref());
    return await Promise.race([usage, late]);
  }
}
