import { type Grade, type Reward, type Scorer, score, type Task } from "@mrlm/spec";
import { intermediateResults, shareShown } from "./intermediate-results.ts";
import type { MathOptions } from "./options.ts";
import { schemaOf, type Solution, solutionOf } from "./solution.ts";

/** An attempt's reward and what may be said about it. */
export interface MathGrade {
  readonly reward: Reward;
  readonly correct: boolean;
  readonly wellFormed: boolean;
}

/**
 * Grades one attempt. Its reward is the sum of its components, each times its weight. It is unscored when the scorer failed, or could
 * not decide and `rewards.undecided` gives no value for that.
 */
export async function gradeAttempt(said: string, task: Task, options: MathOptions, scorer: Scorer): Promise<MathGrade> {
  const solution = solutionOf(task);
  const { rewards } = options;
  const grade = await scorer.score({ answer: said, expected: solution.answer, schema: schemaOf(task, options) });
  const wellFormed = grade.extracted !== undefined;
  const right = rightness(grade, solution);
  const isUndecided = right === undefined && isUndecidedReward(grade.reward);
  if (right === undefined && !(isUndecided && rewards.undecided !== "unscored"))
    return { reward: grade.reward, correct: false, wellFormed };
  const correct = right === 1;
  const shown = shareShown(intermediateResults(solution.steps, solution.answer), said) ?? Number(correct);
  const earned = isUndecided ? Number(rewards.undecided) : rewards.correct * (right as number);
  const value = earned + (wellFormed ? rewards.format : rewards.malformed) + rewards.steps * shown;
  return {
    reward: score(value, { correct: right ?? 0, format: Number(wellFormed), steps: shown }),
    correct,
    wellFormed,
  };
}

/** 1 for a right answer, what the scorer gives for another, `undefined` when it gives nothing. */
function rightness({ extracted, reward }: Grade, { answer, compare }: Solution): number | undefined {
  if (compare === "digits" && (reward.scored || isUndecidedReward(reward))) return Number(extracted?.trim() === answer);
  return reward.scored ? reward.value : undefined;
}

/** Whether the scorer worked and could not tell, rather than failed. */
function isUndecidedReward(reward: Reward): boolean {
  return !reward.scored && reward.code === "SCORER_UNDECIDED";
}
