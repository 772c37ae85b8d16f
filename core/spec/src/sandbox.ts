import type { JsonValue } from "./json.ts";

/** Limits of one submission. The parent process enforces them: a child past one of them is killed. */
export interface SandboxLimits {
  /** Wall-clock milliseconds from start to verdict; for a test call, of all its tests together. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /** By how many bytes the submission may make its interpreter grow. */
  readonly memoryBytes: number;
  /** Of stdout and of stderr, each; the rest is dropped and flagged. */
  readonly outputBytes: number;
}

/** Code to run. Nothing of an earlier submission is visible to it, nor of it to a later one. */
export interface Submission {
  readonly code: string;
  /** Dialect of a sandbox that runs several, for example `typescript`; found out by itself when left out. */
  readonly dialect?: string;
  /** Function of `code` to call after it ran, with JSON arguments; its result comes back as `value`. */
  readonly call?: { readonly name: string; readonly arguments: readonly JsonValue[] };
  /** Text on standard input; empty by default. */
  readonly stdin?: string;
  /** What the program sees as its command-line arguments, without its own name. */
  readonly arguments?: readonly string[];
  /** Text files put into the submission's working directory, by relative name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: Partial<SandboxLimits>;
}

/**
 * How a submission ended. `ok`: by itself. `error`: it raised (a syntax error included), or left with an exit code other than 0.
 * The others were imposed: by the limits, or (`killed`) because it broke its interpreter.
 */
export type SandboxVerdict = "ok" | "error" | "timeout" | "cpu-limit" | "memory-limit" | "killed";

/** What was raised, with the submission's own line numbers. */
export interface SandboxError {
  /** Class of the error: `TypeError`, `ZeroDivisionError`, ... */
  readonly name: string;
  readonly message: string;
  /** Frames of the submission, innermost last or first as the language has it; nothing of the sandbox's own code. */
  readonly trace: string;
  /** Line of the submission's `code`, from 1, where it was raised. */
  readonly line?: number;
}

/** What became of a submission. A sandbox that itself failed rejects with SANDBOX_FAILED instead: that is no verdict. */
export interface SandboxResult {
  readonly verdict: SandboxVerdict;
  /** What `call` returned, where JSON can say it; in a session without `call`, the value of the last expression. */
  readonly value?: JsonValue;
  /** The same as the language's prompt would show it, also where JSON cannot say it; cut at `outputBytes`. */
  readonly shown?: string;
  /** With the verdict `error`. */
  readonly error?: SandboxError;
  /** Of a program that ended itself: `process.exit(3)`, `sys.exit(3)`. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Highest growth of the interpreter that was seen. */
  readonly peakMemoryBytes: number;
}

/** One check of a submission: trusted statements that raise when it fails. */
export interface SandboxTest {
  readonly name: string;
  readonly code: string;
}

/**
 * Trusted test code and what it tests. It runs in an interpreter of its own (the checker), the submission in another (the runner). The checker sees
 * the entry points as functions by their names: arguments travel as plain data, results come back as exact built-in plain types, and
 * arguments that the submission changed are changed in the checker too. So a submission sees nothing of the tests but the arguments,
 * and nothing of it runs where the verdict is made. Its top-level code runs before the first test.
 */
export interface SandboxTestSuite {
  /** Functions that the submission must define. A name that it does not define raises when a test calls it. */
  readonly entryPoints: readonly string[];
  /** Set-up code of the checker that runs once before the tests: helpers, imports, data. */
  readonly harness?: string;
  readonly tests: readonly SandboxTest[];
  /**
   * Of the random numbers that the tests draw, where a kind of sandbox seeds them. By default it follows from the tests themselves, which a submission does not see.
   */
  readonly seed?: string;
}

/** Verdict of one test. `not-run`: the submission ended (by a limit, an error of its top-level code) before the test's turn. */
export interface SandboxTestResult {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "not-run";
  /** Why it failed, for people: the assertion's message, or what was raised, or the limit. Names values of the tests: for private tests keep it. */
  readonly message?: string;
  /** What the submission raised in this test, if that is why it failed. */
  readonly error?: SandboxError;
}

/**
 * What became of a test call. The result itself says how the submission ended: `ok` whenever it could be called to the last test, whatever the
 * tests say; `error` when its top-level code raised; else the limit that ended it.
 */
export interface SandboxTestReport extends SandboxResult {
  /** By position, as many as there were tests. The verdicts never travel over a channel that the submission can write to. */
  readonly tests: readonly SandboxTestResult[];
}

/** What a call into a sandbox takes beside its subject. */
export interface SandboxCallOptions {
  /** Rejects with CANCELLED, and ends what is running, once aborted. */
  readonly signal?: AbortSignal;
}

/** A stateful interpreter: what one evaluation defines, the next can use. Imposed ends (limits) end the session too. */
export interface SandboxSession {
  /** Runs `code` in the session's state. The value of its last expression is the result's. */
  evaluate(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult>;
  /** Keeps a copy of the present state within the session and names it; not every kind has it. */
  snapshot?(options?: SandboxCallOptions): Promise<string>;
  /** Goes back to a state that `snapshot` named. */
  restore?(snapshot: string, options?: SandboxCallOptions): Promise<void>;
  close(): Promise<void>;
}

/** Options of a session. */
export interface SandboxSessionOptions extends SandboxCallOptions {
  /** Limits of each evaluation, unless it brings its own; `memoryBytes` is of the session as a whole. */
  readonly limits?: Partial<SandboxLimits>;
  /** Files in its working directory from the start. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Which walls stand between a submission and the host. */
export interface SandboxLayers {
  /** How it is made: `isolated-vm`, `pyodide`, `native`. */
  readonly kind: string;
  readonly language: string;
  /** For example `process`, `isolate`, `node-permissions`, `watchdog`, `rlimits`, `bubblewrap`, `seccomp`. */
  readonly active: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  /** An operating-system jail holds it. */
  readonly jailed: boolean;
}

/**
 * Runs untrusted code of one language. Every method but `layers` and `close` rejects with SANDBOX_FAILED when the sandbox itself failed,
 * RESOURCE_EXHAUSTED when its queue is full, and CANCELLED once the signal is aborted.
 */
export interface Sandbox {
  readonly language: string;
  /** Limits of a submission that brings none of its own. */
  readonly limits: SandboxLimits;
  run(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult>;
  /** Runs the submission's top-level code, then each test against it; all in fresh interpreters. `submission.call` is not used. */
  test(submission: Submission, suite: SandboxTestSuite, options?: SandboxCallOptions): Promise<SandboxTestReport>;
  session(options?: SandboxSessionOptions): Promise<SandboxSession>;
  /** Starts the children now that would start with the first submissions. */
  warm(): Promise<void>;
  layers(): Promise<SandboxLayers>;
  /** Ends all children; no process is left. What is running or waiting rejects with CANCELLED. */
  close(): Promise<void>;
}
