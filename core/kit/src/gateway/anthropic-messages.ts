import type { JsonObject } from "@mrlm/spec";
import { type Delta, deltasOf } from "./chat-choice.ts";
import type { Codec, ModelAnswer } from "./codec.ts";
import { parseMessagesRequest } from "./messages-request.ts";

/** Block of an answer: as it begins, its content as the delta of an event, and as a whole. */
interface Block {
  readonly begin: JsonObject;
  readonly delta: JsonObject;
  readonly whole: JsonObject;
}

/** The counts that the API requires: an environment does not know tokens. */
const USAGE = { input_tokens: 0, output_tokens: 0 };

/** Messages of Anthropic, for the calls of an episode. */
export const anthropicMessages: Codec = {
  wire: "anthropic-messages",
  path: "/messages",
  read: parseMessagesRequest,

  write({ model, stream }, answer, id) {
    const blocks = deltasOf(answer.message).map(blockOf);
    const { stop } = answer;
    const end = { stop_reason: stopReason(answer), stop_sequence: stop ?? null };
    const head = { id: `msg_${id}`, type: "message", role: "assistant", model, usage: USAGE };
    if (!stream) return [JSON.stringify({ ...head, content: blocks.map(({ whole }) => whole), ...end })];
    return [
      { type: "message_start", message: { ...head, content: [], stop_reason: null, stop_sequence: null } },
      ...blocks.flatMap(({ begin, delta }, index) => [
        { type: "content_block_start", index, content_block: begin },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: end, usage: USAGE },
      { type: "message_stop" },
    ].map((event) => this.event(event));
  },

  event: (data) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`,

  error: ({ status, code, message }) => ({ type: "error", error: { type: errorType(status), message, code } }),
};

function blockOf(part: Delta): Block {
  if (part.type === "content") {
    const { text } = part;
    return { begin: { type: "text", text: "" }, delta: { type: "text_delta", text }, whole: { type: "text", text } };
  }
  if (part.type === "reasoning") {
    const begin = { type: "thinking", thinking: "", signature: "" };
    const { text: thinking } = part;
    return { begin, delta: { type: "thinking_delta", thinking }, whole: { ...begin, thinking } };
  }
  const { id, name, arguments: input } = part.call;
  const begin = { type: "tool_use", id, name, input: {} };
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  return { begin, delta, whole: { ...begin, input } };
}

function stopReason({ message, finishReason, stop }: ModelAnswer): string {
  if (stop !== undefined) return "stop_sequence";
  if (finishReason === "length") return "max_tokens";
  return message.parts.some(({ type }) => type === "tool-call") ? "tool_use" : "end_turn";
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
