import { type EnvironmentContext, type Message, MrlmError, type Reward, unscored } from "@mrlm/kit";

/** Case of a file. */
export interface Case {
  readonly messages: readonly Message[];
  /** Answer to learn from; absent where the file has none. */
  readonly expected: string | undefined;
  /** Place in the file, for messages. */
  readonly place: string;
  /** Returns the reward of an answer, from 0 to 1. What fails through no fault of the answer is unscored. */
  grade(answer: string, given: Grading): Promise<Reward>;
}

/** Further input of a grade. */
export interface Grading {
  readonly context: Pick<EnvironmentContext, "scorer">;
  readonly signal: AbortSignal;
}

/** Returns DATA_INVALID for a case. The message does not quote the case, which may contain answers. */
export function invalidCase(place: string, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}

/** Returns the failure of a scorer. */
export function scorerFailed(what: string): Reward {
  return unscored("SCORER_FAILED", what);
}

/** Whether a number is a score: from 0 to 1. */
export function isScore(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}
