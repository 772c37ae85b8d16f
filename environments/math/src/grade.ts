import { type Grade, type Message, type Reward, type Score, score, type Scorer, type Task } from "@mrlm/kit";
import { intermediateResults, shareShown } from "./intermediate-results.ts";
import type { MathOptions } from "./options.ts";
import { schemaOf, type Solution, solutionOf } from "./solution.ts";

/** Attempt to grade: the text of the last message of the conversation. */
export interface Attempt {
  readonly response: string;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
}

/** Reward of an attempt, with the data for feedback. */
export interface MathGrade {
  readonly reward: Reward;
  readonly correct: boolean;
  readonly wellFormed: boolean;
}

/**
 * Grades one attempt. The reward is the sum of its components times their weights. It is unscored where the scorer's is: the scorer failed, or cannot read the
 * expected answer.
 */
export async function gradeAttempt(
  { response, messages, signal }: Attempt,
  task: Task,
  options: MathOptions,
  scorer: Scorer,
): Promise<MathGrade> {
  const solution = solutionOf(task);
  const { rewards } = options;
  const grade = await scorer.score({
    answer: response,
    expected: solution.answer,
    schema: schemaOf(task, options),
    question: String(task.public["question"]),
    messages,
    signal,
  });
  const wellFormed = grade.extracted !== undefined;
  if (!grade.reward.scored) return { reward: grade.reward, correct: false, wellFormed };
  const right = rightness(grade, grade.reward, solution);
  const correct = right === 1;
  const shown = shareShown(intermediateResults(solution.steps, solution.answer), response) ?? Number(correct);
  const value = rewards.correct * right + (wellFormed ? rewards.format : rewards.malformed) + rewards.steps * shown;
  return {
    reward: score(value, { correct: right, format: Number(wellFormed), steps: shown }),
    correct,
    wellFormed,
  };
}

/** Returns the least and the largest reward of an episode: that of its last attempt. */
export function rangeOf({ rewards }: MathOptions): readonly [number, number] {
  const { correct, format, malformed, steps } = rewards;
  return [
    Math.min(0, correct) + Math.min(format, malformed),
    Math.max(0, correct) + Math.max(format, malformed) + steps,
  ];
}

/** Returns the reward of the scorer. Digits have to be those of the answer as well, as they are written. */
function rightness({ extracted }: Grade, reward: Score, { answer, compare }: Solution): number {
  return compare === "digits" && extracted?.trim() !== answer ? 0 : reward.value;
}
