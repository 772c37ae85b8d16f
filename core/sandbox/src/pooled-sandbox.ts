import type { Sandbox, SandboxLimits, SandboxResult, SandboxSession, SandboxTestReport } from "@mrlm/spec";
import type {
  SandboxCallOptions,
  SandboxLayers,
  SandboxSessionOptions,
  SandboxTestSuite,
  Submission,
} from "@mrlm/spec/host";
import { detectJail } from "./jail/detect-jail.ts";
import { rlimitsMissing } from "./jail/rlimits.ts";
import { Pool, type PoolOptions } from "./pool/pool.ts";
import type { SandboxBackend } from "./program/child-program.ts";
import { withReadableInput } from "./protocol/messages.ts";
import { watchdogMissing } from "./watchdog/watchdog.ts";
import { toReport, toResult } from "./results.ts";
import { SessionPool } from "./session/session-pool.ts";

const MEGABYTE = 1024 * 1024;
/** Time after which a child without a session is ended, to free its memory. */
const SPARE_MS = 30_000;

/** Default limits of a submission. */
export const DEFAULT_LIMITS: SandboxLimits = {
  wallMs: 10_000,
  cpuMs: 10_000,
  memoryBytes: 256 * MEGABYTE,
  outputBytes: 64 * 1024,
};

export interface PooledSandboxOptions {
  readonly backend: SandboxBackend;
  readonly limits?: Partial<SandboxLimits>;
  readonly pool?: Partial<Pick<PoolOptions, "children" | "queue" | "maxRuns" | "maxGrowthBytes">>;
  /** Maximum number of open sessions, each with its own child; default 16. */
  readonly sessions?: number;
  /** Number of callers that may wait for a session; default 256. */
  readonly sessionQueue?: number;
  /** Longest wait for a session in milliseconds; default 60,000. */
  readonly sessionWaitMs?: number;
}

/** Sandbox over supervised children of one backend. */
export class PooledSandbox implements Sandbox {
  readonly language: string;
  readonly limits: SandboxLimits;
  readonly children: number;
  readonly #backend: SandboxBackend;
  readonly #pool: Pool;
  readonly #sessions: SessionPool;

  constructor(options: PooledSandboxOptions) {
    const { backend, limits, pool, sessions = 16, sessionQueue = 256, sessionWaitMs = 60_000 } = options;
    this.language = backend.language;
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#backend = backend;
    const sizes: PoolOptions = {
      children: 2,
      queue: 1024,
      maxRuns: 1000,
      maxGrowthBytes: 64 * MEGABYTE,
      memoryBytes: this.limits.memoryBytes,
      keepsWarm: true,
      idleMs: Number.POSITIVE_INFINITY,
      isForSessions: false,
      ...pool,
    };
    this.children = sizes.children;
    this.#pool = new Pool(backend, sizes);
    // A caller that waits for a child has a place.
    const forSessions = {
      children: sessions,
      queue: sessions,
      keepsWarm: false,
      idleMs: SPARE_MS,
      isForSessions: true,
    };
    this.#sessions = new SessionPool(new Pool(backend, { ...sizes, ...forSessions }), {
      what: `sessions of the ${backend.language} sandbox`,
      hint: "Raise `sessions`, `session_queue` or `session_wait_ms` of the sandbox's plugin, or run fewer episodes at the same time.",
      count: sessions,
      queue: sessionQueue,
      waitMs: sessionWaitMs,
    });
  }

  async run(given: Submission, options: SandboxCallOptions = {}): Promise<SandboxResult> {
    const submission = withReadableInput(given);
    return toResult(await this.#pool.run({ op: "run", submission }, this.#limitsOf(submission), options));
  }

  async test(given: Submission, suite: SandboxTestSuite, options: SandboxCallOptions = {}): Promise<SandboxTestReport> {
    const submission = withReadableInput(given);
    const limits = this.#limitsOf(submission);
    return toReport(await this.#pool.run({ op: "test", submission, suite }, limits, options), suite.tests, limits);
  }

  async session(options: SandboxSessionOptions = {}): Promise<SandboxSession> {
    return this.#sessions.open({
      ...options,
      limits: { ...this.limits, ...options.limits },
      hasSnapshots: this.#backend.hasSnapshots,
    });
  }

  async warm(): Promise<void> {
    await this.#pool.warm();
  }

  async layers(): Promise<SandboxLayers> {
    const jail = await detectJail();
    const { kind, language, layers } = this.#backend;
    const monitors = { watchdog: watchdogMissing(), rlimits: rlimitsMissing() };
    const active = Object.entries(monitors).flatMap(([layer, reason]) => (reason === undefined ? [layer] : []));
    const missing = Object.entries(monitors).flatMap(([layer, reason]) =>
      reason === undefined ? [] : [{ layer, reason }],
    );
    return {
      kind,
      language,
      active: ["process", ...layers, ...active, ...jail.layers],
      missing: [...missing, ...jail.missing, ...(this.#backend.missing ?? [])],
      jailed: jail.isJailed,
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#sessions.close()]);
  }

  #limitsOf({ limits }: Submission): SandboxLimits {
    return { ...this.limits, ...limits };
  }
}
