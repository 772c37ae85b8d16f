import { randomUUID } from "node:crypto";
import { type JsonValue, MrlmError, type SandboxLimits } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";
import type { Jail } from "../jail/launch.ts";
import { dataBytesOf, limitProcess, rlimitsMissing } from "../jail/rlimits.ts";
import type { ChildProgram } from "../program/child-program.ts";
import { type ChildReady, type ChildTask, readMessage } from "../protocol/messages.ts";
import { type Usage, UsageMeter } from "../watchdog/usage-meter.ts";
import { WatchSlot } from "../watchdog/watchdog.ts";
import { Connection } from "./connection.ts";
import { Exchange, type Outcome } from "./exchange.ts";

const START_MS = 60_000;
/** The child enforces its limits too, and returns the output so far; the parent kills it this much later. */
const GRACE_MS = 200;
/** The kernel's memory limit is this much above the watchdog's, which reports the cause of a kill. */
const KERNEL_LIMIT_MARGIN_BYTES = 64 * 1024 * 1024;
const OPEN_FILES = 256;
const FILE_BYTES = 64 * 1024 * 1024;

/** Messages of V8 and CPython when an allocation fails. */
const OUT_OF_MEMORY =
  /out of memory|bad_alloc|is_heap_oom|OOM error|Allocation failed|invalid (?:array|size|table) |MemoryError/i;

export interface ExchangeOptions {
  readonly signal?: AbortSignal;
  /** The exchange belongs to a session: memory counts from its start, and the limits stay after the exchange. */
  readonly isSession?: boolean;
}

/** Child process from its start to its end. It serves one request at a time. */
export class Child {
  /** Number of requests so far. */
  runs = 0;
  /** Called when the process has exited. */
  onExit: () => void = () => {};
  readonly #program: ChildProgram;
  readonly #connection: Connection;
  readonly #slot = new WatchSlot(() => this.#onKill());
  readonly #ready = Promise.withResolvers<ChildReady>();
  #exchange: Exchange | undefined;
  #pid = 0;
  #ownBytes = 0;
  #meter: UsageMeter | undefined;
  #newBytes = 0;
  /** Resident memory when the present session was opened. */
  #sessionBytes = 0;
  #idleBytes = 0;
  #unusedDataBytes = 0;
  #wallBytes = 0;
  #isAlive = true;

  constructor(program: ChildProgram, jail: Jail) {
    this.#program = program;
    this.#connection = new Connection(jail.launch(program), {
      onFrame: (frame) => this.#receive(frame),
      onGarbage: (what) => this.#breakOff(`sent ${what}`),
      onExit: (how, isKill) => this.#onExit(how, isKill),
    });
  }

  /** Resolves when the child can take a request with this memory limit. Rejects with SANDBOX_FAILED if it does not start. */
  async ready(memoryBytes: number): Promise<void> {
    const timer = setTimeout(() => this.#breakOff(`was not ready after ${START_MS / 1000} s`), START_MS);
    try {
      const { reservedBytes, ownBytes = 0 } = await this.#ready.promise;
      this.#ownBytes = ownBytes;
      this.#pid = await this.#connection.pid();
      this.#meter = new UsageMeter(this.#pid, this.#program.forks === true);
      this.#newBytes = this.#idleBytes = this.#usage().rssBytes;
      if (rlimitsMissing() === undefined && reservedBytes !== undefined)
        this.#unusedDataBytes = dataBytesOf(this.#pid) + reservedBytes;
      await this.#raiseKernelLimit(memoryBytes);
      this.#connection.setReferenced(false);
    } catch (error) {
      throw MrlmError.isInstance(error) ? error : this.#failure("ended while it started");
    } finally {
      clearTimeout(timer);
    }
  }

  /** Settles when the process has exited. */
  get exited(): Promise<void> {
    return this.#connection.exited;
  }

  /** Whether it can take another request. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Growth of its resident memory since its start, measured when idle. */
  get grownBytes(): number {
    return this.#idleBytes - this.#newBytes;
  }

  /** Runs a request under its limits. Rejects with SANDBOX_FAILED, or CANCELLED when the signal is aborted; either ends the child. */
  async exchange(
    task: ChildTask,
    limits: SandboxLimits,
    { signal, isSession = false }: ExchangeOptions = {},
  ): Promise<Outcome> {
    this.runs += 1;
    await this.#raiseKernelLimit(limits.memoryBytes);
    const id = randomUUID();
    const exchange = new Exchange(id, task.op === "test" ? task.suite.tests.length : 0, limits.outputBytes);
    const cancel = (): void => {
      exchange.reject(new MrlmError("CANCELLED", "The run in the sandbox was cancelled."));
      this.kill();
    };
    const before = this.#usage();
    if (task.op === "open") this.#sessionBytes = before.rssBytes;
    const baseBytes = isSession ? this.#sessionBytes : before.rssBytes;
    this.#exchange = exchange;
    this.#connection.setReferenced(true);
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    this.#arm(limits, before, baseBytes + this.#ownBytes, limits.wallMs + GRACE_MS);
    this.#connection.send({ ...task, id, limits });
    try {
      const reported = await exchange.promise;
      const after = this.#isAlive ? this.#usage() : { rssBytes: 0, cpuMs: this.#slot.cpuMs };
      const peakBytes = Math.max(this.#slot.peakBytes, after.rssBytes) - baseBytes;
      this.#idleBytes = after.rssBytes;
      return { ...reported, cpuMs: Math.max(0, after.cpuMs - before.cpuMs), peakMemoryBytes: Math.max(0, peakBytes) };
    } finally {
      this.#exchange = undefined;
      signal?.removeEventListener("abort", cancel);
      // The watchdog may have killed it just after its answer.
      if (this.#slot.disarm() !== undefined) this.kill();
      // A task may be waiting for the child that replaces it.
      if (this.#isAlive) this.#connection.setReferenced(false);
      if (isSession && this.#isAlive)
        this.#arm(limits, this.#usage(), baseBytes + this.#ownBytes, Number.POSITIVE_INFINITY);
    }
  }

  /** Kills the process and all processes that it started. */
  kill(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#connection.kill();
  }

  #arm(limits: SandboxLimits, usage: Usage, baseBytes: number, wallMs: number): void {
    const isTree = this.#program.forks === true;
    this.#slot.arm({
      pid: this.#pid,
      isTree,
      wallMs,
      rssBytes: usage.rssBytes,
      memoryBytes: baseBytes + limits.memoryBytes,
      cpuMs: usage.cpuMs + limits.cpuMs + (this.#program.limitsCpu === true ? GRACE_MS : 0),
    });
  }

  /** Ends the watch. No limit of processes is watched. */
  #verdict(): SandboxVerdict | undefined {
    return this.#slot.disarm() as SandboxVerdict | undefined;
  }

  #usage(): Usage {
    return this.#meter?.read() ?? { rssBytes: 0, cpuMs: 0, processes: 0 };
  }

  /** Raises the kernel's memory limit if no earlier request needed as much. */
  async #raiseKernelLimit(memoryBytes: number): Promise<void> {
    if (this.#unusedDataBytes === 0 || memoryBytes <= this.#wallBytes) return;
    this.#wallBytes = memoryBytes;
    const data = this.#unusedDataBytes + memoryBytes + KERNEL_LIMIT_MARGIN_BYTES;
    await limitProcess(this.#pid, { data, openFiles: OPEN_FILES, fileBytes: FILE_BYTES }).catch((error: Error) => {
      throw this.#failure(`could not be given its limits: ${error.message.trim()}`);
    });
  }

  #receive(frame: JsonValue): void {
    const message = readMessage(frame);
    if (message?.type === "ready") this.#ready.resolve(message);
    else if (message?.type === "failed") this.#breakOff(`failed: ${message.message}`);
    else if (message === undefined || this.#exchange?.receive(message) !== true)
      this.#breakOff("sent a message that does not belong to its request");
  }

  /** Ends a child that broke the protocol, and ignores its later messages. */
  #breakOff(what: string): void {
    const failure = this.#failure(what);
    this.#ready.reject(failure);
    this.#exchange?.reject(failure);
    this.kill();
  }

  /**
   * Handles a kill by the watchdog, which may have come between two requests of a session. Settles after one turn of the event loop, in which earlier messages
   * are read, and not at the exit of the process, which takes longer on a busy machine.
   */
  #onKill(): void {
    this.kill();
    setImmediate(() =>
      setImmediate(() => {
        const verdict = this.#verdict();
        if (verdict !== undefined) this.#exchange?.impose(verdict);
      }),
    );
  }

  #onExit(how: string, isKill: boolean): void {
    this.#isAlive = false;
    this.onExit();
    const verdict = this.#verdict();
    this.#slot.release();
    this.#meter?.close();
    this.#ready.reject(this.#failure(`ended before it was ready (${how})`));
    this.#ready.promise.catch(() => {});
    if (verdict !== undefined) this.#exchange?.impose(verdict);
    else if (OUT_OF_MEMORY.test(this.#connection.stderrTail)) this.#exchange?.impose("memory-limit");
    // Another process killed it, so there is no verdict about the submission.
    else if (isKill) this.#exchange?.reject(this.#failure("was killed from outside"));
    else this.#exchange?.impose("killed");
  }

  #failure(what: string): MrlmError {
    const { stderrTail } = this.#connection;
    return new MrlmError(
      "SANDBOX_FAILED",
      `The sandbox child ${this.#program.command} ${what}.${stderrTail === "" ? "" : ` It printed: ${stderrTail}`}`,
    );
  }
}
