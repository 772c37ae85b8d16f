import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { MrlmError, type SandboxLimits } from "@mrlm/spec";
import type { Jail } from "../jail/launch.ts";
import type { ChildProgram } from "../program/child-program.ts";
import { encodeFrame, FrameReader } from "../protocol/frames.ts";
import { type ChildMessage, type ChildTask, readMessage } from "../protocol/messages.ts";
import { usageOf, usageOfTree } from "../watchdog/usage.ts";
import { WatchSlot } from "../watchdog/watchdog.ts";
import { Exchange, type Outcome } from "./exchange.ts";

const START_MS = 60_000;
/** What a child may say beside the output: results of tests, a value. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
/** How long after the deadline, which the child also keeps, the parent kills. */
const GRACE_MS = 100;
const STDERR_TAIL = 4000;

/** A child process from its start to its end. It carries out one request at a time. */
export class Child {
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  /** Walls that the child says it has put up itself. */
  layers: readonly string[] = [];
  runs = 0;
  readonly #process: ChildProcess;
  readonly #program: ChildProgram;
  readonly #slot = new WatchSlot();
  readonly #reader = new FrameReader(MAX_FRAME_BYTES);
  readonly #ready = Promise.withResolvers<void>();
  /** Of the process to be watched: with a jail it is not the one that was spawned. */
  #pid: number;
  #idleBytes = 0;
  #firstIdleBytes = 0;
  #exchange: Exchange | undefined;
  #hasExited = false;
  #isDoomed = false;
  #said = "";

  private constructor(program: ChildProgram, jail: Jail) {
    const launch = jail.launch(program);
    this.#program = program;
    this.#process = spawn(launch.command, launch.args, {
      cwd: "/",
      env: { ...launch.env },
      detached: true,
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", ...launch.extraFds],
    });
    this.#pid = this.#process.pid ?? 0;
    this.exited = new Promise((resolve) => {
      this.#process.once("exit", (code, signal) => {
        this.#onExit(code === null ? `signal ${signal}` : `exit code ${code}`);
        resolve();
      });
      this.#process.once("error", (error) => {
        this.#onExit(error.message);
        resolve();
      });
    });
    const stdio = this.#process.stdio as readonly unknown[] as readonly Duplex[];
    stdio[2]?.on("data", (chunk: Buffer) => (this.#said = (this.#said + chunk.toString("latin1")).slice(-STDERR_TAIL)));
    stdio[4]?.on("data", (chunk: Buffer) => this.#read(chunk));
    stdio[3]?.on("error", () => {}); // The exit says more.
    if (launch.pidFd !== undefined) {
      stdio[5 + launch.pidFd]?.once("data", (chunk: Buffer) => (this.#pid = Number(/"child-pid": (\d+)/.exec(chunk.toString())?.[1] ?? this.#pid)));
    }
  }

  /** Resolves when the child is ready for a request. */
  static async start(program: ChildProgram, jail: Jail): Promise<Child> {
    const child = new Child(program, jail);
    const timer = setTimeout(() => child.#ready.reject(child.#failure(`was not ready after ${START_MS / 1000} s`)), START_MS);
    try {
      await child.#ready.promise;
    } catch (error) {
      child.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    child.#firstIdleBytes = child.#measure();
    child.#setReferenced(false);
    return child;
  }

  get pid(): number {
    return this.#pid;
  }

  /** Whether it can be given another request. */
  get isAlive(): boolean {
    return !this.#hasExited && !this.#isDoomed;
  }

  /** By how much it is larger, when idle, than when it was new. */
  get grownBytes(): number {
    return this.#idleBytes - this.#firstIdleBytes;
  }

  /** Carries out a request under its limits. Rejects with SANDBOX_FAILED; an aborted signal kills the child. */
  async exchange(task: ChildTask, limits: SandboxLimits, signal?: AbortSignal): Promise<Outcome> {
    const id = randomBytes(16).toString("base64");
    const exchange = new Exchange(id, task.op === "test" ? task.suite.tests.length : 0, limits.outputBytes);
    const before = (this.#program.forks === true ? usageOfTree : usageOf)(this.#pid);
    this.#idleBytes = before?.rssBytes ?? 0;
    this.#exchange = exchange;
    this.runs += 1;
    this.#setReferenced(true);
    this.#slot.arm({
      pid: this.#pid,
      isTree: this.#program.forks === true,
      memoryBytes: this.#idleBytes + limits.memoryBytes,
      cpuMs: (before?.cpuMs ?? 0) + limits.cpuMs,
      wallMs: limits.wallMs + GRACE_MS,
    });
    const onAbort = (): void => {
      exchange.reject(new MrlmError("CANCELLED", "The run in the sandbox was cancelled."));
      this.kill();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    (this.#process.stdio[3] as Duplex).write(encodeFrame({ ...task, id, limits }));
    try {
      const heard = await exchange.promise;
      return {
        ...heard,
        cpuMs: Math.max(0, this.#slot.cpuMs - (before?.cpuMs ?? 0)),
        peakMemoryBytes: heard.result.peakMemoryBytes ?? Math.max(0, this.#slot.peakBytes - this.#idleBytes),
      };
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#slot.disarm();
      this.#exchange = undefined;
      this.#idleBytes = this.#measure();
      this.#setReferenced(false);
    }
  }

  /** Ends the process and all that it has started. */
  kill(): void {
    if (this.#hasExited) return;
    this.#isDoomed = true;
    for (const pid of [-this.#pid, this.#pid, -(this.#process.pid ?? 0), this.#process.pid ?? 0]) {
      try {
        if (pid !== 0) process.kill(pid, "SIGKILL");
      } catch {
        // Gone, or no leader of a group.
      }
    }
  }

  #measure(): number {
    return this.#hasExited ? this.#idleBytes : (usageOf(this.#pid)?.rssBytes ?? 0);
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#hear(readMessage(frame));
    } catch (error) {
      this.#breakOff(`sent ${(error as Error).message}`);
    }
  }

  #hear(message: ChildMessage | undefined): void {
    if (message?.type === "ready") {
      this.layers = message.layers;
      this.#ready.resolve();
    } else if (message?.type === "failed") {
      this.#breakOff(`failed: ${message.message}`);
    } else if (message === undefined || this.#exchange === undefined || !this.#exchange.hear(message)) {
      this.#breakOff("sent a message that does not belong to its request");
    }
  }

  /** The child no longer keeps to the protocol. */
  #breakOff(what: string): void {
    this.#exchange?.reject(this.#failure(what));
    this.kill();
  }

  #onExit(how: string): void {
    this.#hasExited = true;
    const verdict = this.#slot.disarm();
    this.#slot.release();
    this.#ready.reject(this.#failure(`ended before it was ready (${how})`));
    this.#ready.promise.catch(() => {});
    if (verdict !== undefined) this.#exchange?.impose(verdict);
    else if (/out of memory|OOM|Allocation failed/.test(this.#said)) this.#exchange?.impose("memory-limit");
    // Somebody else killed it: that says nothing about the submission.
    else if (how === "signal SIGKILL") this.#exchange?.reject(this.#failure("was killed from outside"));
    else this.#exchange?.impose("killed");
  }

  #failure(what: string): MrlmError {
    const said = this.#said.trim();
    return new MrlmError("SANDBOX_FAILED", `The sandbox child ${this.#program.command} ${what}.${said === "" ? "" : ` It said: ${said}`}`);
  }

  /** An idle child holds nobody's process open. */
  #setReferenced(isReferenced: boolean): void {
    for (const handle of [this.#process, ...this.#process.stdio] as { ref?(): void; unref?(): void }[]) {
      if (isReferenced) handle?.ref?.();
      else handle?.unref?.();
    }
  }
}
