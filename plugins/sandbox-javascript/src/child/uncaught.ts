import type { SandboxError } from "@mrlm/spec";

/** Error that the submission threw and did not catch. */
export class Uncaught extends Error {
  readonly error: SandboxError;

  constructor(error: SandboxError) {
    super(error.message);
    this.error = error;
  }
}
