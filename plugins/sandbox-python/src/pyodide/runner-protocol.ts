import type { SandboxError } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";

/** Descriptor of the link, in the runner's process. */
export const RUNNER_FD = 3;

/** Role of a supervisor, its last argument. A session has no tests, and so no interpreter of a checker. */
export type ChildRole = "any" | "session";

/**
 * First line of a request to a runner; its content follows. `begin`: limits and standard input as JSON. `python`: a message for the Python module
 * `runner`, with an answer. `reset`: the end of the submission. `snapshot` and `restore` of the interpreter, by number, with an answer.
 *
 * A runner sends `pristine` after its start and after each reset, and `output` with the name of a stream and text at any time. It answers `python`
 * with `answer`, or with `ended` and an Ending, each after a line with the Usage of the submission.
 */
export type RunnerRequest = "begin" | "python" | "reset" | "snapshot" | "restore";

/** Resources that a submission has used, sent as three numbers with spaces between them. */
export interface Usage {
  readonly cpuMs: number;
  /** Memory in use, with files. */
  readonly usedBytes: number;
  /** Growth of the interpreter over a new one, by this submission and earlier ones. */
  readonly grownBytes: number;
}

/** Ending of a submission that returned no answer. */
export interface Ending {
  readonly verdict: SandboxVerdict;
  readonly exitCode?: number;
  readonly error?: SandboxError;
  /** Cause of the verdict `killed`. */
  readonly reason?: string;
}
