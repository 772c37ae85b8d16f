import type { JsonValue } from "./json.ts";

/** Limits of one submission. The parent process enforces them. */
export interface SandboxLimits {
  /** Wall-clock milliseconds from start to verdict. */
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Of stdout and of stderr, each; the rest is dropped and flagged. */
  readonly outputBytes: number;
}

/** Code to run. Nothing of an earlier submission is visible to it, nor of it to a later one. */
export interface Submission {
  readonly code: string;
  /** Function of `code` to call after it ran, with JSON arguments; its result comes back as `value`. */
  readonly call?: { readonly name: string; readonly arguments: readonly JsonValue[] };
  readonly stdin?: string;
  /** Files put into the submission's working directory, by relative name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: Partial<SandboxLimits>;
}

/** How a submission ended. `error`: it raised; the other ends were imposed. */
export type SandboxVerdict = "ok" | "error" | "timeout" | "cpu-limit" | "memory-limit" | "killed";

/** What became of a submission. A sandbox that itself failed rejects with SANDBOX_FAILED instead: that is no verdict. */
export interface SandboxResult {
  readonly verdict: SandboxVerdict;
  readonly value?: JsonValue;
  /** Name, message and trace with the submission's own line numbers. */
  readonly error?: { readonly name: string; readonly message: string; readonly trace: string; readonly line?: number };
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
}

/** One check of a submission: an expression or statement of trusted test code, run against it. */
export interface SandboxTest {
  readonly name: string;
  readonly code: string;
}

/** Verdict of each test, by position. It never travels over a channel that the submission can write to. */
export interface SandboxTestReport extends SandboxResult {
  readonly tests: readonly { readonly name: string; readonly passed: boolean; readonly message?: string }[];
}

/** A stateful interpreter: what one evaluation defines, the next can use. */
export interface SandboxSession {
  evaluate(submission: Submission, options: { readonly signal: AbortSignal }): Promise<SandboxResult>;
  /** A copy of the present state that `restore` brings back; not every kind has it. */
  snapshot?(): Promise<string>;
  restore?(snapshot: string): Promise<void>;
  close(): Promise<void>;
}

/** Which walls stand between a submission and the host. */
export interface SandboxLayers {
  readonly kind: string;
  readonly language: string;
  /** For example `process`, `isolate`, `node-permissions`, `bubblewrap`, `namespaces`, `seccomp`, `rlimits`. */
  readonly active: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  /** An operating-system jail holds it. */
  readonly jailed: boolean;
}

/** Runs untrusted code of one language. */
export interface Sandbox {
  readonly language: string;
  run(submission: Submission, options: { readonly signal: AbortSignal }): Promise<SandboxResult>;
  /** Runs the submission, then each test against it in the same fresh interpreter. */
  test(submission: Submission, tests: readonly SandboxTest[], options: { readonly signal: AbortSignal }): Promise<SandboxTestReport>;
  session(options?: { readonly limits?: Partial<SandboxLimits> }): Promise<SandboxSession>;
  layers(): Promise<SandboxLayers>;
  close(): Promise<void>;
}
