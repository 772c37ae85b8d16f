import type { SandboxError } from "@mrlm/spec";

/** What ended an attempt before its tests were through. */
export type Ending =
  /** No code was said. */
  | { readonly kind: "nothing" }
  /** It cannot be parsed. The error is left out where a hidden test could have had a part in it. */
  | { readonly kind: "syntax"; readonly error?: SandboxError }
  /** Its top-level code raised; the error as above. */
  | { readonly kind: "raised"; readonly error?: SandboxError }
  | { readonly kind: "limit"; readonly limit: "timeout" | "cpu-limit" | "memory-limit" | "killed" };

/** What became of one test. */
export interface TestOutcome {
  readonly shown: string;
  readonly visible: boolean;
  readonly counted: boolean;
  readonly passed: boolean;
  /** Whether it failed because the submission raised or ran into a limit, rather than being wrong. */
  readonly raised: boolean;
  /** Why it failed; told only of visible tests. */
  readonly message?: string;
}

/** What became of an attempt. */
export interface Outcome {
  readonly ending?: Ending;
  readonly tests: readonly TestOutcome[];
}
