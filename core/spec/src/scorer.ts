import type { JsonObject } from "./json.ts";
import type { Reward } from "./reward.ts";

/** Answer to grade. */
export interface ScoreRequest {
  /** Unchanged text of the policy, from which the scorer extracts the answer. */
  readonly answer: string;
  /** Correct answer, or a text that ends with it. */
  readonly expected: string;
  /** Place of the answer in the text: `answer` (a tag), `boxed`, the name of another tag, or `text` (the whole text). */
  readonly schema?: string;
  readonly options?: JsonObject;
}

/** Reward of an answer, with the reasons. */
export interface Grade {
  /** Unscored if the scorer cannot decide. */
  readonly reward: Reward;
  /** `equivalent`, `different`, `undecided`, or another verdict of the scorer. */
  readonly verdict: string;
  /** Explanation of the verdict for the user. */
  readonly reason: string;
  /** The answer in the text; `undefined` if the text has none. */
  readonly extracted?: string;
  readonly detail?: JsonObject;
}

/** Grades an answer against the correct one. Deterministic. Rejects for no input: it returns an unscored reward instead. */
export interface Scorer {
  score(request: ScoreRequest): Promise<Grade>;
}
