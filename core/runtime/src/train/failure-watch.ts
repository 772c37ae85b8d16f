import { learntReward } from "@mrlm/kit/learning";
import { isErrorCode, MrlmError, type Trajectory, type TrajectoryGroup, type Unscored } from "@mrlm/spec";
import { failureAdvice } from "../evaluation/failure-advice.ts";

/** Number of consecutive iterations in which all episodes failed, after which the run ends. */
const MAX_FAILED_ITERATIONS = 3;

/** Largest number of different episode errors that a run reports. All of them are in the episode store. */
const MAX_REPORTED = 5;

/** Reports why episodes fail or have no score. Ends a run in which every episode fails, since it would train for hours and learn nothing. */
export class FailureWatch {
  #failed = 0;
  readonly #reported = new Set<string>();

  /** Returns a notice about an error that has not been reported yet. Throws the first episode's error after too many failed iterations. */
  watch(played: readonly TrajectoryGroup[]): string | undefined {
    const all = played.flatMap(({ trajectories }) => trajectories);
    if (all.length === 0) return undefined;
    this.#failed = all.every(({ error }) => error !== undefined) ? this.#failed + 1 : 0;
    const error = all[0]?.error;
    if (this.#failed < MAX_FAILED_ITERATIONS || error === undefined) return this.#notice(all);
    throw new MrlmError(
      isErrorCode(error.code) ? error.code : "INTERNAL",
      `Every episode of the last ${this.#failed} iterations failed, the first of them with: ${error.message}`,
      {
        isRetryable: false,
        hint: failureAdvice(error.code, "Correct the environment, or give it longer deadlines if it is slow."),
      },
    );
  }

  #notice(all: readonly Trajectory[]): string | undefined {
    const failed = all.flatMap(({ error }) => error ?? []);
    const unscored = all.filter(({ error }) => error === undefined).map(unscoredRewards);
    const lost = unscored.filter(({ length }) => length > 0).length;
    const causes = [
      { what: `${failed.length} of ${all.length} episodes failed`, errors: failed },
      { what: `${lost} of ${all.length} episodes have no score`, errors: unscored.flat() },
    ];
    for (const { what, errors } of causes) {
      const first = errors.find(({ code, message }) => !this.#reported.has(`${code} ${message}`));
      if (first === undefined || this.#reported.size >= MAX_REPORTED) continue;
      this.#reported.add(`${first.code} ${first.message}`);
      return `${what} and are left out. ${first.code}: ${first.message}`;
    }
    return undefined;
  }
}

/** Returns the rewards that policies would learn from and that could not be computed. */
function unscoredRewards({ agents }: Trajectory): Unscored[] {
  return Object.values(agents).flatMap((part) => {
    const learnt = learntReward(part);
    return part.player.kind === "policy" && !learnt.scored ? [learnt] : [];
  });
}
