import type { AgentId, JudgeRequest, Reward } from "@mrlm/kit";
import type { CompletionOptions, ModelClient } from "@mrlm/model-client";
import type { Answered } from "./ask.ts";
import type { LlmOptions } from "./options.ts";

/** Conversation with the options of its judgement. */
export interface JudgedPart {
  readonly request: JudgeRequest;
  /** Options of the plugin, with those of the request. */
  readonly options: LlmOptions;
}

/** One judgement in progress. */
export interface Judging extends JudgedPart {
  readonly client: ModelClient;
  readonly call: CompletionOptions;
}

/** Rewards with what led to them. */
export interface JudgedAgents {
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  readonly verdict: string;
  readonly reasons: readonly string[];
  readonly answers: readonly Answered<unknown>[];
  readonly detail: Readonly<Record<string, unknown>>;
  /** Messages that are cut. */
  readonly cut: number;
}
