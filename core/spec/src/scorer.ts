import type { JsonObject } from "./json.ts";
import type { Reward } from "./reward.ts";

/** What is graded. */
export interface ScoreRequest {
  /** What the policy said, as it said it; the scorer extracts the answer from it. */
  readonly answer: string;
  /** The reference answer. */
  readonly expected: string;
  /** Where the answer stands in the text: `answer` (a tag), `boxed`, another tag's name, or `text` (all of it is the answer). */
  readonly schema?: string;
  readonly options?: JsonObject;
}

/** A grade with what led to it. */
export interface Grade {
  /** `scored: false` when the scorer could not decide. */
  readonly reward: Reward;
  /** `equivalent`, `different`, `undecided`, or a scorer's own words. */
  readonly verdict: string;
  /** Why, for people. */
  readonly reason: string;
  /** The answer found in the text; `undefined` when there was none. */
  readonly extracted?: string;
  readonly detail?: JsonObject;
}

/** Grades an answer. Deterministic, never throws on any input. */
export interface Scorer {
  score(request: ScoreRequest): Promise<Grade>;
}
