import type { SandboxError, SandboxVerdict } from "@mrlm/spec";

/** Descriptor of the link, in the runner's process. */
export const RUNNER_FD = 3;

/** What a supervisor is for; last of its arguments. A session is not tested, and does without the interpreter of a checker. */
export type ChildRole = "any" | "session";

/**
 * First lines of what a runner is told; what follows is theirs. `begin`: limits and standard input, JSON. `python`: a message for the Python module
 * `runner`, which is answered. `reset`: the submission is over. `snapshot` and `restore`: of the interpreter, by number; answered.
 *
 * A runner says `pristine` when it has started and after each reset, `output` with the name of a stream and text at any time, and to `python` either
 * `answer` or `ended` with an Ending, each behind a line with the Usage of the submission.
 */
export type RunnerRequest = "begin" | "python" | "reset" | "snapshot" | "restore";

/** Of a submission so far: three numbers with spaces between them. */
export interface Usage {
  readonly cpuMs: number;
  /** Memory that it uses, and its files. */
  readonly usedBytes: number;
  /** By how much the interpreter is larger than a new one, for this submission and earlier ones. */
  readonly grownBytes: number;
}

/** How a submission ended that gave no answer any more. */
export interface Ending {
  readonly verdict: SandboxVerdict;
  readonly exitCode?: number;
  readonly error?: SandboxError;
  /** Of the verdict `killed`, for people. */
  readonly reason?: string;
}
