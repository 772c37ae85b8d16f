import type { Queued } from "@mrlm/kit/service";
import type { Determinism, Message, ToolDefinition } from "@mrlm/spec";
import type { z } from "zod";

/** Request for the next message of a conversation. */
export interface CompletionRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  /** Tokens of the output, with its reasoning. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  /** Distinguishes equal requests that are to have answers of their own, as the votes of a judge: each has its own recording. Is not sent. */
  readonly variant?: number;
}

/** Options of one call. */
export interface CompletionOptions {
  /** Ends the request. The promise rejects with the reason of the signal. */
  readonly signal: AbortSignal;
  /** Time for all attempts with all models together, with the wait for a place unless `queued` is given. */
  readonly deadlineMs?: number;
  /** Waits for a place. Set by callers whose own time limit does not count the wait. */
  readonly queued?: Queued;
}

/** Tokens of one answer. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` that the endpoint had in its cache. */
  readonly cachedInputTokens: number;
  /** Whether the endpoint stated no numbers, and they are estimated from the lengths of the texts (4 bytes per token). */
  readonly isEstimated: boolean;
  /** Price by the table of the options; 0 for a model without a price. */
  readonly cost: number;
}

/** Answer of a model. */
export interface Completion {
  /** Message of role `assistant`: reasoning, text and tool calls. */
  readonly message: Message;
  /** Text of the message without its reasoning; may be empty. */
  readonly text: string;
  /** Text in which the model refuses to answer, for an error: without the keys of the client. */
  readonly refusal?: string;
  /** `stop`, `length`, `tool_calls`, `content_filter`, or another value of the endpoint. */
  readonly finishReason: string;
  /** Model that answered: the first of the options, or one after a failover. */
  readonly model: string;
  /** Tokens that the answer used when it was made. */
  readonly usage: TokenUsage;
  readonly timing: CompletionTiming;
}

export interface CompletionTiming {
  /** Wait for a place. */
  readonly queueMs: number;
  /** Time of all attempts, with the waits between them; 0 for a recorded answer. */
  readonly modelMs: number;
  /** HTTP requests; 0 for a recorded answer. */
  readonly attempts: number;
  readonly isReplayed: boolean;
}

/** Form of a structured output. */
export interface JsonOutput<T> {
  /** Name of the form for the endpoint: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Schema that can be written as JSON Schema. */
  readonly schema: z.ZodType<T>;
}

/** Structured output of a model. */
export interface JsonCompletion<T> {
  readonly value: T;
  /** The answer that has the value; the last one where an earlier one was repaired. */
  readonly completion: Completion;
  readonly isRepaired: boolean;
}

/** Sums over all requests of a client. */
export interface ModelClientStats {
  /** Answers, recorded ones included. */
  readonly answers: number;
  readonly replayed: number;
  /** HTTP requests, with retries. */
  readonly requests: number;
  /** Answers that came from another model than the first. */
  readonly failovers: number;
  /** Structured outputs that needed a repair. */
  readonly repairs: number;
  /** Failed calls by code. */
  readonly failures: Readonly<Record<string, number>>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Answers whose tokens are estimated. */
  readonly estimated: number;
  readonly cost: number;
  readonly queueMs: number;
  readonly modelMs: number;
}

/** Client of OpenAI-compatible endpoints. Errors have the codes ENDPOINT_*; a signal rejects with its reason. */
export interface ModelClient {
  /** `replayable` where recorded answers are used again, else `none`. */
  readonly determinism: Determinism;
  /** Returns the next message of a conversation, also an empty, cut or refused one. */
  complete(request: CompletionRequest, options: CompletionOptions): Promise<Completion>;
  /**
   * Returns the next message as JSON of a schema. An output that cannot be read is sent back with its fault, at most twice.
   * @throws ENDPOINT_OUTPUT_EMPTY, ENDPOINT_OUTPUT_CUT, ENDPOINT_OUTPUT_FILTERED, ENDPOINT_OUTPUT_INVALID
   */
  completeJson<T>(
    request: CompletionRequest,
    output: JsonOutput<T>,
    options: CompletionOptions,
  ): Promise<JsonCompletion<T>>;
  stats(): ModelClientStats;
  /** Closes all connections. Requests in progress fail. */
  close(): Promise<void>;
}
