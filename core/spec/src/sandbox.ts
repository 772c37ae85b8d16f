import type { JsonValue } from "./json.ts";

/** Limits of one submission. The parent process enforces them and kills a child that exceeds one. */
export interface SandboxLimits {
  /** Wall-clock milliseconds from start to verdict; in `test` for all tests together. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Limit in bytes of the memory growth of the interpreter. */
  readonly memoryBytes: number;
  /** Limit in bytes of stdout and of stderr, each. The rest is dropped, and a flag of the result states it. */
  readonly outputBytes: number;
}

/** File that may hold any bytes. */
export interface EncodedFile {
  readonly base64: string;
}

/** Code to run. Submissions are isolated from each other, also in sequence. */
export interface Submission {
  readonly code: string;
  /** Dialect, for a sandbox with several of them, for example `typescript`; detected by default. */
  readonly dialect?: string;
  /** Function of `code` to call after the top-level code, with JSON arguments. `SandboxResult.value` is its result. */
  readonly call?: { readonly name: string; readonly arguments: readonly JsonValue[] };
  /** Text on standard input; default empty. */
  readonly stdin?: string;
  /** Command-line arguments of the program, without its name. */
  readonly arguments?: readonly string[];
  /** Files in the working directory of the submission, by relative path. */
  readonly files?: Readonly<Record<string, string | EncodedFile>>;
  /** Files to return when `run` ends, by path relative to the working directory. */
  readonly fetchFiles?: readonly string[];
  readonly limits?: Partial<SandboxLimits>;
}

/**
 * End of a submission. `ok`: it completed. `error`: it raised an error, including syntax errors, or exited with a code other than 0. `killed`: its interpreter
 * failed. The others are the limit that it exceeded.
 */
export type SandboxVerdict = "ok" | "error" | "timeout" | "cpu-limit" | "memory-limit" | "killed";

/** Error of a submission, with the line numbers of its code. */
export interface SandboxError {
  /** Class of the error: `TypeError`, `ZeroDivisionError`, ... */
  readonly name: string;
  readonly message: string;
  /** Stack frames of the submission in the order of the language, without frames of the sandbox. */
  readonly trace: string;
  /** Line of `Submission.code`, from 1. */
  readonly line?: number;
}

/** Result of a submission. A failure of the sandbox itself is not a result: the call rejects with SANDBOX_FAILED. */
export interface SandboxResult {
  readonly verdict: SandboxVerdict;
  /** Result of `Submission.call`, or in a session without `call` the value of the last expression. Omitted if JSON cannot represent it. */
  readonly value?: JsonValue;
  /** The same value as the interactive prompt of the language prints it, also if JSON cannot represent it; cut at `outputBytes`. */
  readonly shown?: string;
  /** Set with the verdict `error`. */
  readonly error?: SandboxError;
  /** Exit code of a program that called `process.exit` or `sys.exit`. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /**
   * The files of `Submission.fetchFiles` in base64. A file is missing if it does not exist, is no regular file of the working directory, or does not fit
   * into 4 MiB with those before it; all are missing if a limit ended the submission.
   */
  readonly files?: Readonly<Record<string, string>>;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Largest measured memory growth of the interpreter in bytes. */
  readonly peakMemoryBytes: number;
}

/** Test of a submission: trusted statements that raise an error if the submission fails. */
export interface SandboxTest {
  readonly name: string;
  readonly code: string;
}

/**
 * Trusted tests and the functions that they call. The tests run in one interpreter (the checker), the submission in another (the runner), so that no code of
 * the submission runs where the verdict is computed. In the checker the entry points are functions: arguments are sent as plain data, results return as exact
 * built-in types, and changes that the submission makes to arguments are applied in the checker. The submission receives nothing of the tests but these
 * arguments. Its top-level code runs before the first test.
 */
export interface SandboxTestSuite {
  /** Names of the functions that the submission must define. A call of an undefined one raises an error in the test. */
  readonly entryPoints: readonly string[];
  /** Set-up code of the checker, which runs once before the tests: helpers, imports, data. */
  readonly harness?: string;
  readonly tests: readonly SandboxTest[];
  /**
   * Seed of the random numbers that the tests draw, in sandboxes that support it. By default it is derived from the tests, which a submission cannot read.
   */
  readonly seed?: string;
}

/** Verdict of one test. `not-run`: the submission had ended before, by a limit or by an error of its top-level code. */
export interface SandboxTestResult {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "not-run";
  /** Reason of a failure: message of the assertion, error, or limit. It may contain values of the tests: do not show it to a policy if the tests are private. */
  readonly message?: string;
  /** Error of the submission that made this test fail. */
  readonly error?: SandboxError;
}

/**
 * Result of `Sandbox.test`. `verdict` is the end of the submission: `ok` if it could be called up to the last test, also if tests failed; `error` if its
 * top-level code raised an error; else the limit that it exceeded.
 */
export interface SandboxTestReport extends SandboxResult {
  /** One result for each test, in the same order. A submission cannot write to the channel of the verdicts. */
  readonly tests: readonly SandboxTestResult[];
}

export interface SandboxCallOptions {
  /** Ends the running code when aborted; the call rejects with CANCELLED. */
  readonly signal?: AbortSignal;
  /**
   * Waits for a place in the sandbox. A caller whose own deadline must not count the wait gives the `queued` of its call; the host gives that of an
   * environment.
   */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
}

/**
 * Reason why a session has ended. `closed`: its owner closed it. `idle`: it was not used for `idleMs`. `yielded`: another session needed its place. `limit`:
 * an evaluation exceeded a limit. `exited`: the code of an evaluation, or another process, ended the interpreter.
 */
export type SandboxSessionEnd = "closed" | "idle" | "yielded" | "limit" | "exited";

/** Interpreter with state: an evaluation can use definitions of earlier ones. An exceeded limit ends the session. */
export interface SandboxSession {
  /** Reason why the session has ended; `undefined` while it can take an evaluation. */
  readonly end: SandboxSessionEnd | undefined;
  /** Runs `code` in the state of the session. `value` of the result is the value of its last expression. */
  evaluate(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult>;
  /** Stores a copy of the state in the session and returns its name; not available in every sandbox. */
  snapshot?(options?: SandboxCallOptions): Promise<string>;
  /** Restores a state by the name that `snapshot` returned. */
  restore?(snapshot: string, options?: SandboxCallOptions): Promise<void>;
  close(): Promise<void>;
}

export interface SandboxSessionOptions extends SandboxCallOptions {
  /** Default limits of each evaluation; `memoryBytes` is the limit of the whole session. */
  readonly limits?: Partial<SandboxLimits>;
  /** Text files in the working directory at the start, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Milliseconds without an evaluation after which the session is closed; default: never. */
  readonly idleMs?: number;
  /** Whether the session may be closed between two evaluations if other callers have long waited for a place; default false. */
  readonly canYield?: boolean;
}

/** Isolation layers between a submission and the host. */
export interface SandboxLayers {
  /** Implementation: `isolated-vm`, `pyodide`, `native`. */
  readonly kind: string;
  readonly language: string;
  /** For example `process`, `isolate`, `node-permissions`, `watchdog`, `rlimits`, `bubblewrap`, `seccomp`. */
  readonly active: readonly string[];
  readonly missing: readonly { readonly layer: string; readonly reason: string }[];
  /** Whether the active layers include a jail of the operating system. */
  readonly jailed: boolean;
}

/**
 * Runs untrusted code of one language. Every method except `layers` and `close` rejects with SANDBOX_FAILED if the sandbox itself fails,
 * RESOURCE_EXHAUSTED if its queue is full or a wait for a session is too long, and CANCELLED when the signal is aborted.
 */
export interface Sandbox {
  readonly language: string;
  /** Default limits of a submission. */
  readonly limits: SandboxLimits;
  /** Number of submissions that run at the same time, without sessions; others wait. Default: 1. */
  readonly children?: number;
  run(submission: Submission, options?: SandboxCallOptions): Promise<SandboxResult>;
  /** Runs the top-level code of the submission, then each test, in new interpreters. `submission.call` is ignored. */
  test(submission: Submission, suite: SandboxTestSuite, options?: SandboxCallOptions): Promise<SandboxTestReport>;
  /** Opens a session; waits for a place if the largest number of sessions is open, in the order of the calls. */
  session(options?: SandboxSessionOptions): Promise<SandboxSession>;
  /** Starts the child processes that the first submissions would start. */
  warm(): Promise<void>;
  layers(): Promise<SandboxLayers>;
  /** Ends all child processes. Running and queued calls reject with CANCELLED. */
  close(): Promise<void>;
}
