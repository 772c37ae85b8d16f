import type { Determinism } from "./determinism.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
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
  /** Text of the question. */
  readonly question?: string;
  /** Conversation that led to the answer, ending with the message of the answer. */
  readonly messages?: readonly Message[];
  /** Aborted when the deadline of scoring passes or the episode is given up. A host always sets it. */
  readonly signal?: AbortSignal;
  /** Waits for a free place. The time does not count against the deadline of scoring. Set by the host. */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
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

/** Grades an answer against the correct one. Rejects for no input: it returns an unscored reward instead. */
export interface Scorer {
  /** Default `full`: equal requests have equal grades. An environment is at most as deterministic as its scorers. */
  readonly determinism?: Determinism;
  score(request: ScoreRequest): Promise<Grade>;
}
