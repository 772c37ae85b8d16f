import { type IterationReport, isErrorCode, MrlmError, type Trajectory } from "@mrlm/spec";
import { failureAdvice } from "../evaluation/failure-advice.ts";

/** Iterations in a row without a single episode that did not fail, after which a run is not worth going on with. */
const MAX_FAILED_ITERATIONS = 3;

/** Different errors of episodes that are told of in one run; all of them are in trajectories.sqlite. */
const MAX_TOLD = 5;

/** Tells why episodes fail or have no score, and ends a run whose every episode fails: it would go on for hours and learn nothing. */
export class FailureWatch {
  #failed = 0;
  readonly #told = new Set<string>();

  /** What to tell of an error that has not been told of yet. Throws the first episode's error when it has been too many iterations. */
  watch({ trajectories = [] }: IterationReport): string | undefined {
    const all = trajectories.flatMap((group) => group.trajectories);
    if (all.length === 0) return undefined;
    this.#failed = all.every(({ error }) => error !== undefined) ? this.#failed + 1 : 0;
    const error = all[0]?.error;
    if (this.#failed < MAX_FAILED_ITERATIONS || error === undefined) return this.#tell(all);
    throw new MrlmError(
      isErrorCode(error.code) ? error.code : "INTERNAL",
      `Every episode of the last ${this.#failed} iterations failed, the first of them with: ${error.message}`,
      {
        isRetryable: false,
        hint: failureAdvice(error.code, "Correct the environment, or give it longer deadlines if it is slow."),
      },
    );
  }

  #tell(all: readonly Trajectory[]): string | undefined {
    const failed = all.flatMap(({ error }) => error ?? []);
    const unscored = all
      .filter(({ error }) => error === undefined)
      .flatMap(({ agents }) => Object.values(agents).flatMap(({ total }) => (total.scored ? [] : [total])));
    const causes = [
      { what: `${failed.length} of ${all.length} episodes failed`, errors: failed },
      { what: `${unscored.length} of ${all.length} episodes have no score`, errors: unscored },
    ];
    for (const { what, errors } of causes) {
      const first = errors.find(({ code, message }) => !this.#told.has(`${code} ${message}`));
      if (first === undefined || this.#told.size >= MAX_TOLD) continue;
      this.#told.add(`${first.code} ${first.message}`);
      return `${what} and are left out. ${first.code}: ${first.message}`;
    }
    return undefined;
  }
}
