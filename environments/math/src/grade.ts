import { type Grade, type Message, type Reward, type Score, score, type Scorer, type Task } from "@mrlm/kit";
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

/** Number after an equals sign that is not part of a further computation: 12 in `3 * 4 = 12`, but not 3 in `x = 3 * 4`. */
const RESULT = /=\s*\$?\s*(-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?)(?![\w^]|[.,]\d|\s*[-+*/^(])/g;
const NUMBER = /(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?/g;

/** Returns the results of the worked steps, without the answer at their end. */
export function intermediateResults(steps: readonly string[], answer: string): string[] {
  const results = steps.flatMap((step) => Array.from(step.matchAll(RESULT), ([, number]) => plain(number as string)));
  while (results.at(-1) === plain(answer)) results.pop();
  return results;
}

/**
 * Returns the share of the results that a text shows in their order: the length of the longest common subsequence of the results and the numbers of the text,
 * divided by the number of results. `undefined` without results.
 */
export function shareShown(results: readonly string[], text: string): number | undefined {
  if (results.length === 0) return undefined;
  // lengths[i]: longest common subsequence of the first i results and the numbers so far.
  const lengths = new Array<number>(results.length + 1).fill(0);
  for (const [number] of text.matchAll(NUMBER)) {
    let diagonal = 0;
    for (const [i, result] of results.entries()) {
      const above = lengths[i + 1] as number;
      lengths[i + 1] = result === plain(number) ? diagonal + 1 : Math.max(above, lengths[i] as number);
      diagonal = above;
    }
  }
  return (lengths.at(-1) as number) / results.length;
}

/** Returns the numbers of a text without thousands separators. */
function plain(number: string): string {
  return number.replaceAll(",", "");
}
