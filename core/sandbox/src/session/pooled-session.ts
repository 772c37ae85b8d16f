import {
  MrlmError,
  type SandboxLimits,
  type SandboxResult,
  type SandboxSession,
  type SandboxSessionEnd,
} from "@mrlm/spec";
import type { SandboxCallOptions, SandboxSessionOptions, Submission } from "@mrlm/spec/host";
import type { Child } from "../pool/child.ts";
import type { Outcome } from "../pool/exchange.ts";
import { type ChildTask, withReadableFiles, withReadableInput } from "../protocol/messages.ts";
import { toResult } from "../results.ts";

/** Shortest time without an evaluation before a session counts as idle: calls of one turn follow each other at once. */
const PAUSE_MS = 50;
/** Longest time in which a child begins a session, whose own limits may be shorter. */
const OPEN_MS = 10_000;
/** Longest time in which a child prepares for the next session. */
const CLOSE_MS = 5000;

const ENDINGS: Record<SandboxSessionEnd, string> = {
  closed: "it was closed",
  idle: "it was not used for too long",
  yielded: "another session needed its place",
  limit: "one of its evaluations exceeded a limit",
  exited: "its interpreter has ended",
};

/** Options of a session with its defaults, and the callbacks of the pool that opened it. */
export interface OpenOptions extends SandboxSessionOptions {
  readonly limits: SandboxLimits;
  readonly hasSnapshots: boolean;
  /** Called when the session has become idle (true), and when an evaluation begins or the session ends (false). */
  onIdle(isIdle: boolean): void;
  /** Called once, when the session no longer uses the child. */
  onEnd(): void;
}

/** Session with exclusive use of a child until it ends. */
export class PooledSession implements SandboxSession {
  readonly snapshot?: (options?: SandboxCallOptions) => Promise<string>;
  readonly restore?: (snapshot: string, options?: SandboxCallOptions) => Promise<void>;
  readonly #child: Child;
  readonly #options: OpenOptions;
  #end: SandboxSessionEnd | undefined;
  #ended: Promise<void> | undefined;
  #timers: NodeJS.Timeout[] = [];
  #running = 0;

  constructor(child: Child, options: OpenOptions) {
    this.#child = child;
    this.#options = options;
    // An evaluation reports the end itself.
    child.onExit = () => void (this.#running === 0 && this.finish("exited"));
    if (!options.hasSnapshots) return;
    const { limits } = options;
    this.snapshot = async (call) => (await this.#exchange({ op: "snapshot" }, limits, call)).result.snapshot as string;
    this.restore = async (snapshot, call) => void (await this.#exchange({ op: "restore", snapshot }, limits, call));
  }

  get end(): SandboxSessionEnd | undefined {
    return this.#end ?? (this.#child.isAlive || this.#running > 0 ? undefined : "exited");
  }

  /** Begins the session in its child. */
  async open(): Promise<void> {
    const { files = {}, limits, signal } = this.#options;
    const times = { wallMs: Math.max(OPEN_MS, limits.wallMs), cpuMs: Math.max(OPEN_MS, limits.cpuMs) };
    const call = signal === undefined ? {} : { signal };
    const { result } = await this.#exchange(
      { op: "open", files: withReadableFiles(files) },
      { ...limits, ...times },
      call,
    );
    if (result.verdict === "ok") return;
    await this.close();
    const { name, message } = result.error ?? { name: result.verdict, message: "the files exceed a limit" };
    throw new MrlmError("SANDBOX_FAILED", `The files of a session were not written: ${name}: ${message}.`);
  }

  async evaluate(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult> {
    const limits = { ...this.#options.limits, ...submission.limits };
    return toResult(
      await this.#exchange({ op: "evaluate", submission: withReadableInput(submission) }, limits, options),
    );
  }

  async close(): Promise<void> {
    await this.finish("closed");
  }

  /** Ends the session; the first reason counts. Resolves when the child is free for another session, or has exited. */
  finish(end: SandboxSessionEnd): Promise<void> {
    this.#end ??= end;
    this.#ended ??= this.#release();
    return this.#ended;
  }

  async #release(): Promise<void> {
    this.#stopTimers();
    this.#child.onExit = () => {};
    if (this.#running > 0 || !(await this.#isReset())) {
      this.#child.kill();
      await this.#child.exited;
    }
    this.#options.onEnd();
  }

  /** Prepares the child for the next session. Returns false if it cannot serve one. */
  async #isReset(): Promise<boolean> {
    if (!this.#child.isAlive) return false;
    try {
      const limits = { ...this.#options.limits, wallMs: CLOSE_MS, cpuMs: CLOSE_MS };
      const { result } = await this.#child.exchange({ op: "close" }, limits);
      return result.verdict === "ok" && result.spent !== true;
    } catch {
      return false;
    }
  }

  async #exchange(task: ChildTask, limits: SandboxLimits, options: SandboxCallOptions = {}): Promise<Outcome> {
    const { end } = this;
    if (end !== undefined)
      throw new MrlmError("SESSION_NOT_FOUND", `This sandbox session has ended: ${ENDINGS[end]}.`, {
        hint: "Open a new session.",
      });
    this.#running++;
    this.#stopTimers();
    try {
      const outcome = await this.#child.exchange(task, limits, { ...options, isSession: true });
      const { verdict, spent } = outcome.result;
      if (verdict.endsWith("limit") || verdict === "timeout") void this.finish("limit");
      else if (verdict === "killed" || spent === true) void this.finish("exited");
      return outcome;
    } catch (error) {
      void this.finish("exited");
      throw error;
    } finally {
      this.#running--;
      if (this.#end === undefined && this.#running === 0) this.#wait();
    }
  }

  /** Waits for the next evaluation. */
  #wait(): void {
    const { idleMs } = this.#options;
    this.#timers = [setTimeout(() => this.#options.onIdle(true), PAUSE_MS).unref()];
    if (idleMs !== undefined) this.#timers.push(setTimeout(() => void this.finish("idle"), idleMs).unref());
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    this.#options.onIdle(false);
  }
}
