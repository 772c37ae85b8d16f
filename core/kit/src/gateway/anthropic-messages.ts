import type { JsonObject } from "@mrlm/spec";
import { AnswerItems, type ItemForm } from "./answer-items.ts";
import type { AnswerEnd, Codec, Delta } from "./codec.ts";
import { SCHEMA_FAILED } from "./instructions.ts";
import { parseMessagesRequest } from "./messages-request.ts";

/** Messages of Anthropic. */
export const anthropicMessages: Codec = {
  wire: "anthropic-messages",
  path: "/messages",
  list: "messages",
  read: parseMessagesRequest,

  begin(call, { id, inputTokens: input_tokens }) {
    const items = new AnswerItems(FORM);
    const head = { id: `msg_${id}`, type: "message", role: "assistant", model: call.model };
    const usage = { input_tokens, output_tokens: 0 };
    const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
    const begin = [{ type: "message_start", message: start }];
    return {
      add: (deltas) => [...begin.splice(0), ...items.add(deltas)],
      end(answer) {
        const hasFormat = items.hasFormat(call);
        const reason = stopReason(answer, items.hasCalls);
        const end = {
          ...{ stop_reason: reason, stop_sequence: answer.stop ?? null },
          ...(!hasFormat && SCHEMA_FAILED),
        };
        const used = { ...usage, output_tokens: answer.outputTokens ?? 0 };
        const last = [{ type: "message_delta", delta: end, usage: used }, { type: "message_stop" }];
        return {
          events: [...begin.splice(0), ...items.close(), ...last],
          whole: { ...head, content: items.whole(), ...end, usage: used },
          hasFormat,
        };
      },
    };
  },

  event: (data) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`,
  streamEnd: "",
  error: ({ status, code, message }) => ({ type: "error", error: { type: errorType(status), message, code } }),
};

/** Clients return a reasoning without a signature as text, or not at all. */
const SIGNATURE = "unsigned";

const FORM: ItemForm = {
  begin: (item, index) => [{ type: "content_block_start", index, content_block: emptyBlock(item) }],
  delta: (part, index) => ({ type: "content_block_delta", index, delta: deltaOf(part) }),
  end(item, index) {
    const signed = { type: "content_block_delta", index, delta: { type: "signature_delta", signature: SIGNATURE } };
    return [...(item.type === "reasoning" ? [signed] : []), { type: "content_block_stop", index }];
  },
  whole: (item) => ({ ...emptyBlock(item), ...contentOf(item) }),
};

function emptyBlock(item: Delta): JsonObject {
  if (item.type === "content") return { type: "text", text: "" };
  if (item.type === "reasoning") return { type: "thinking", thinking: "", signature: "" };
  return { type: "tool_use", id: item.call.id, name: item.call.name, input: {} };
}

function contentOf(item: Delta): JsonObject {
  if (item.type === "content") return { text: item.text };
  return item.type === "reasoning" ? { thinking: item.text, signature: SIGNATURE } : { input: item.call.arguments };
}

function deltaOf(part: Delta): JsonObject {
  if (part.type === "content") return { type: "text_delta", text: part.text };
  if (part.type === "reasoning") return { type: "thinking_delta", thinking: part.text };
  return { type: "input_json_delta", partial_json: JSON.stringify(part.call.arguments) };
}

function stopReason({ finishReason, stop }: AnswerEnd, hasCalls: boolean): string {
  if (stop !== undefined) return "stop_sequence";
  if (finishReason === "length") return "max_tokens";
  return hasCalls ? "tool_use" : "end_turn";
}

function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
  };
  return types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}
