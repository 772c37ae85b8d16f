import { type IterationReport, isErrorCode, MrlmError } from "@mrlm/spec";

/** Iterations in a row without a single episode that did not fail, after which a run is not worth going on with. */
const MAX_FAILED_ITERATIONS = 3;

/** Ends a run whose every episode fails: it would go on for hours and learn nothing. */
export class FailureWatch {
  #failed = 0;

  /** Throws the first episode's error when it has been too many iterations. */
  watch({ trajectories = [] }: IterationReport): void {
    const all = trajectories.flatMap((group) => group.trajectories);
    if (all.length === 0) return;
    this.#failed = all.every(({ error }) => error !== undefined) ? this.#failed + 1 : 0;
    const error = all[0]?.error;
    if (this.#failed < MAX_FAILED_ITERATIONS || error === undefined) return;
    throw new MrlmError(
      isErrorCode(error.code) ? error.code : "INTERNAL",
      `Every episode of the last ${this.#failed} iterations failed, the first of them with: ${error.message}`,
      { isRetryable: false },
    );
  }
}
