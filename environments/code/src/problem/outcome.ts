import type { SandboxError } from "@mrlm/kit/service";

/** End of an attempt before the end of its tests. */
export type Ending =
  /** The response has no code. */
  | { readonly kind: "nothing" }
  /** The code cannot be parsed. The error is omitted if a hidden test may have caused it. */
  | { readonly kind: "syntax"; readonly error?: SandboxError }
  /** The top-level code raised an error, which is omitted in the same case. */
  | { readonly kind: "raised"; readonly error?: SandboxError }
  | { readonly kind: "limit"; readonly limit: "timeout" | "cpu-limit" | "memory-limit" | "killed" };

/** Result of one test. */
export interface TestOutcome {
  readonly shown: string;
  readonly visible: boolean;
  readonly counted: boolean;
  readonly passed: boolean;
  /** Whether it failed by an error or a limit of the submission, not by a wrong result. */
  readonly raised: boolean;
  /** Reason of the failure, for feedback on visible tests only. */
  readonly message?: string;
}

/** Result of an attempt. */
export interface Outcome {
  readonly ending?: Ending;
  readonly tests: readonly TestOutcome[];
}
