import type { Determinism } from "./determinism.ts";
import type { AgentId } from "./id.ts";
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
  /**
   * Unscored only for what the policy did not cause: the reference cannot be read, or the scorer failed. An answer that cannot be read or decided is wrong,
   * because a policy that could avoid its grade would earn more by unreadable answers than by wrong ones.
   */
  readonly reward: Reward;
  /**
   * One of these, or another verdict of the scorer:
   * - `equivalent`: right;
   * - `different`: wrong;
   * - `not-computed`: wrong, because it leaves work of the task to do, such as an operation;
   * - `unreadable`: wrong, because it cannot be read, or its reading takes too long;
   * - `undecided`: wrong, because it was read, and the comparison had no result. The metric `answers/undecided` counts these.
   */
  readonly verdict: string;
  /** Explanation of the verdict for the user. */
  readonly reason: string;
  /** The answer in the text; `undefined` if the text has none. */
  readonly extracted?: string;
  readonly detail?: JsonObject;
}

/**
 * Grade of an answer in the `judgements` of a step's `info`, beside `JudgementRecord`s, without its detail. The host adds it, with long texts cut; in
 * `Trajectory.info` those of all steps stand together.
 */
export interface GradeRecord extends Omit<Grade, "detail"> {
  /** Id of the scorer, for example `math@2`. */
  readonly scorer: string;
  /** Index of the step in the episode, from 0. */
  readonly step: number;
  /** Agent that acted in the step. */
  readonly agent: AgentId;
}

/** Grades an answer against the correct one. Rejects for no input: an answer that it cannot read is wrong. */
export interface Scorer {
  /** Default `full`: equal requests have equal grades. An environment is at most as deterministic as its scorers. */
  readonly determinism?: Determinism;
  score(request: ScoreRequest): Promise<Grade>;
}
