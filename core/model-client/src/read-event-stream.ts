import { isTooDeep } from "@mrlm/spec";
import type OpenAI from "openai";
import { APIError } from "openai";
import { Stream } from "openai/streaming";
import { type ChatAnswer, chatAnswer } from "./chat-answer.ts";
import {
  type AttemptOutcome,
  failureOfBody,
  failureOfResponse,
  type ReceivedResponse,
  statusOfErrorBody,
} from "./endpoint-error.ts";
import { openaiClient } from "./openai-client.ts";

/** Fields of a delta that servers add. */
interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly CallDelta[];
}

type CallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall;

interface JoinedCall {
  readonly index: number | undefined;
  id?: string;
  readonly function: { name: string; arguments: string };
}

/** Joins the events of a streamed chat completion. A stream that ends before its last event is a failure. */
export async function readEventStream(received: ReceivedResponse): Promise<AttemptOutcome> {
  const joined = new JoinedChunks();
  try {
    const response = new Response(received.body);
    const reader = openaiClient("http://localhost", fetch); // without it unreadable events are written to the console
    const events = Stream.fromSSEResponse<OpenAI.ChatCompletionChunk>(response, new AbortController(), reader);
    for await (const chunk of events) joined.add(chunk);
  } catch (error) {
    if (!(error instanceof APIError)) return failureOfBody(received, "events that are no chat completion");
    if (isTooDeep(error.error)) return failureOfBody(received, "an error that cannot be read");
    const reported = { error: error.error ?? { message: error.message } };
    const body = JSON.stringify(reported);
    return failureOfResponse({ ...received, status: statusOfErrorBody(reported) ?? 502, body });
  }
  if (!joined.isComplete) return failureOfBody(received, "a stream that ended early");
  const answer = chatAnswer.safeParse(joined.answer());
  return answer.success ? { answer: answer.data } : failureOfBody(received, "events that are no chat completion");
}

class JoinedChunks {
  readonly #texts: Partial<Record<"content" | "refusal" | "reasoning_content" | "reasoning", string>> = {};
  readonly #calls: JoinedCall[] = [];
  #finishReason: string | undefined;
  #model: string | undefined;
  #usage: unknown;

  get isComplete(): boolean {
    return this.#finishReason !== undefined;
  }

  add({ model, usage, choices }: OpenAI.ChatCompletionChunk): void {
    this.#model ??= model;
    this.#usage = usage ?? this.#usage;
    const choice = choices?.[0];
    if (choice === undefined) return; // the last event has the usage alone
    const delta = (choice.delta ?? {}) as Delta;
    for (const field of ["content", "refusal", "reasoning_content", "reasoning"] as const)
      if (typeof delta[field] === "string") this.#texts[field] = (this.#texts[field] ?? "") + delta[field];
    for (const call of delta.tool_calls ?? []) {
      const joined = this.#callOf(call);
      if (call.id) joined.id = call.id;
      joined.function.name += call.function?.name ?? "";
      joined.function.arguments += call.function?.arguments ?? "";
    }
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
  }

  /** Returns the call that a part continues. Servers that leave the index out begin each call with its id; later parts may have an empty one. */
  #callOf({ index, id }: Partial<CallDelta>): JoinedCall {
    const last = this.#calls.at(-1);
    const known =
      typeof index === "number"
        ? this.#calls.find((call) => call.index === index)
        : !id || id === last?.id
          ? last
          : undefined;
    if (known !== undefined) return known;
    const call: JoinedCall = { index, function: { name: "", arguments: "" } };
    this.#calls.push(call);
    return call;
  }

  answer(): { [name in keyof ChatAnswer]: unknown } {
    const message = { content: null, ...this.#texts, tool_calls: this.#calls };
    return {
      model: this.#model,
      choices: [{ finish_reason: this.#finishReason, message }],
      usage: this.#usage,
    };
  }
}
