import { type Grade, type Message, type Reward, type Scorer, score, type Task } from "@mrlm/spec";
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
 * Grades one attempt. The reward is the sum of its components times their weights. It is unscored if the scorer fails, or if the scorer cannot decide
 * and `rewards.undecided` has no value.
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
  const right = rightness(grade, solution);
  const isUndecided = right === undefined && isUndecidedReward(grade.reward);
  if (right === undefined && !(isUndecided && rewards.undecided !== "unscored"))
    return { reward: grade.reward, correct: false, wellFormed };
  const correct = right === 1;
  const shown = shareShown(intermediateResults(solution.steps, solution.answer), response) ?? Number(correct);
  const earned = isUndecided ? Number(rewards.undecided) : rewards.correct * (right as number);
  const value = earned + (wellFormed ? rewards.format : rewards.malformed) + rewards.steps * shown;
  return {
    reward: score(value, { correct: right ?? 0, format: Number(wellFormed), steps: shown }),
    correct,
    wellFormed,
  };
}

/** Returns the least and the largest reward of an episode: that of its last attempt. */
export function rangeOf({ rewards }: MathOptions): readonly [number, number] {
  const { correct, format, malformed, steps, undecided } = rewards;
  const answers = [0, correct, undecided === "unscored" ? 0 : undecided];
  return [
    Math.min(...answers) + Math.min(format, malformed),
    Math.max(...answers) + Math.max(format, malformed) + steps,
  ];
}

/** Returns 1 for a correct answer, else the reward of the scorer; `undefined` if it is unscored. */
function rightness({ extracted, reward }: Grade, { answer, compare }: Solution): number | undefined {
  if (compare === "digits" && (reward.scored || isUndecidedReward(reward))) return Number(extracted?.trim() === answer);
  return reward.scored ? reward.value : undefined;
}

/** Returns true if the scorer could not decide, false if it failed. */
function isUndecidedReward(reward: Reward): boolean {
  return !reward.scored && reward.code === "SCORER_UNDECIDED";
}
