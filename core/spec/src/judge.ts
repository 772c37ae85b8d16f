import type { Determinism } from "./determinism.ts";
import type { AgentId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Reward } from "./reward.ts";
import type { Task } from "./task.ts";

/** Message of a conversation with its speaker. */
export interface JudgedTurn {
  readonly agent: AgentId;
  readonly message: Message;
}

/** Conversation to grade. */
export interface JudgeRequest {
  /** Subject of the conversation, for example the proposition of a debate. */
  readonly question?: string;
  /** Messages in the order in which they were written. */
  readonly turns: readonly JudgedTurn[];
  /** Agents that get a reward. An agent without a turn gets one too. */
  readonly agents: readonly AgentId[];
  /** Task with its private part, such as the key points of each side. */
  readonly task: Task;
  /** Options of this request in the judge's own terms, for example a rubric. */
  readonly options?: JsonObject;
}

/** Rewards of a conversation, with the reasons. */
export interface Judgement {
  /** A reward for each agent of the request, and for no other; unscored only for what the agents did not cause, such as a failure of the judge. */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  /** `pro`, `tie`, `undecided`, or another verdict of the judge. */
  readonly verdict: string;
  /** Explanation of the verdict for the user. */
  readonly reason: string;
  readonly detail?: JsonObject;
}

export interface GradingOptions {
  readonly signal: AbortSignal;
  /** Waits for a free place, for example at an endpoint. The time does not count against the deadline of scoring. Set by the host. */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
}

/**
 * Judgement in the `judgements` of a step's `info`. The host adds them in the order of the calls; in `Trajectory.info` the judgements of all steps stand together.
 */
export interface JudgementRecord extends Judgement {
  /** Id of the judge, for example `rules@1`. */
  readonly judge: string;
  /** Index of the step in the episode, from 0. */
  readonly step: number;
}

/** Grades a conversation, where a `Scorer` grades an answer. */
export interface Judge {
  /** Default `full`: equal requests have equal judgements, byte for byte. An environment is at most as deterministic as its judges. */
  readonly determinism?: Determinism;
  /**
   * Grades a conversation. A host calls it for many conversations at once. What it throws is recorded as SCORER_FAILED
   * for every agent.
   * @param options.signal aborted when the deadline of scoring passes or the episode is given up. A judge then ends its requests.
   */
  judge(request: JudgeRequest, options: GradingOptions): Promise<Judgement>;
}
