import { type Grade, MrlmError, score, type ScoreRequest, unscored } from "@mrlm/kit";

/** Returns a grade without a reward, for a grader that failed. */
export function unscoredGrade(reason: string): Grade {
  return { reward: unscored("SCORER_FAILED", reason), verdict: "failed", reason };
}

/** Returns the grade of a score. Throws SCORER_FAILED for one that is not in 0 to 1. */
export function gradeOf(
  name: string,
  value: number,
  { reason, components }: { readonly reason: string; readonly components: Readonly<Record<string, number>> },
): Grade {
  // The action stands in the message, because a host keeps the message alone.
  if (!(value >= 0 && value <= 1))
    throw new MrlmError(
      "SCORER_FAILED",
      `${name} returned the score ${value}, and a score is a number from 0 to 1. Scale it in a function around the scorer.`,
    );
  return { reward: score(value, components), verdict: "scored", reason };
}

/** Runs a grader. What it throws is unscored, apart from the error of a score and from an abort. */
export async function gradeBy({ signal }: ScoreRequest, grade: () => Promise<Grade>): Promise<Grade> {
  try {
    return await grade();
  } catch (error) {
    if (signal?.aborted === true || MrlmError.isInstance(error)) throw error;
    return unscoredGrade(`The grader failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
