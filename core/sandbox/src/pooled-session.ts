import {
  MrlmError,
  type SandboxCallOptions,
  type SandboxLimits,
  type SandboxResult,
  type SandboxSession,
  type SandboxSessionOptions,
  type Submission,
} from "@mrlm/spec";
import type { Child } from "./pool/child.ts";
import type { Outcome } from "./pool/exchange.ts";
import type { Pool } from "./pool/pool.ts";
import type { ChildTask } from "./protocol/messages.ts";
import { toResult } from "./results.ts";

interface OpenOptions extends SandboxSessionOptions {
  readonly limits: SandboxLimits;
  readonly hasSnapshots: boolean;
}

/** Session with exclusive use of a child until it is closed. */
export class PooledSession implements SandboxSession {
  readonly snapshot?: (options?: SandboxCallOptions) => Promise<string>;
  readonly restore?: (snapshot: string, options?: SandboxCallOptions) => Promise<void>;
  readonly #pool: Pool;
  readonly #child: Child;
  readonly #limits: SandboxLimits;
  #isOpen = true;

  private constructor(pool: Pool, child: Child, { limits, hasSnapshots }: OpenOptions) {
    this.#pool = pool;
    this.#child = child;
    this.#limits = limits;
    if (!hasSnapshots) return;
    this.snapshot = async (options) =>
      (await this.#exchange({ op: "snapshot" }, limits, options)).result.snapshot as string;
    this.restore = async (snapshot, options) =>
      void (await this.#exchange({ op: "restore", snapshot }, limits, options));
  }

  static async open(pool: Pool, options: OpenOptions): Promise<PooledSession> {
    const child = await pool.acquire(options.signal);
    const session = new PooledSession(pool, child, options);
    try {
      await session.#exchange({ op: "open", files: options.files ?? {} }, options.limits, options);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async evaluate(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult> {
    return toResult(
      await this.#exchange({ op: "evaluate", submission }, { ...this.#limits, ...submission.limits }, options),
    );
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#child.kill();
    this.#pool.release(this.#child);
    await this.#child.exited;
  }

  async #exchange(task: ChildTask, limits: SandboxLimits, options: SandboxCallOptions = {}): Promise<Outcome> {
    if (!this.#isOpen || !this.#child.isAlive) {
      throw new MrlmError(
        "SESSION_NOT_FOUND",
        "This sandbox session has ended: it was closed, or one of its evaluations exceeded a limit.",
        { hint: "Open a new session." },
      );
    }
    const outcome = await this.#child.exchange(task, limits, { ...options, isSession: true });
    const { verdict, spent } = outcome.result;
    if ((verdict !== "ok" && verdict !== "error") || spent === true) this.#child.kill();
    return outcome;
  }
}
