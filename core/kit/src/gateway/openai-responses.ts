import type { JsonObject, Message } from "@mrlm/spec";
import { deltasOf } from "./chat-choice.ts";
import type { Codec, ModelAnswer, ModelCall } from "./codec.ts";
import { parseResponsesRequest } from "./responses-request.ts";

/** Item of an answer: as it begins, as a whole, and the events of its content. */
interface Item {
  readonly begin: JsonObject;
  readonly whole: JsonObject;
  readonly events: readonly JsonObject[];
}

/** The counts that clients read: an environment does not know tokens. */
const USAGE = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/** Responses of OpenAI, for the calls of an episode. Nothing is stored: a request has the whole conversation. */
export const openaiResponses: Codec = {
  wire: "openai-responses",
  path: "/responses",
  read: parseResponsesRequest,

  write(call, answer, id) {
    const items = itemsOf(answer.message, id);
    const whole = responseOf(call, `resp_${id}`, { answer, output: items.map(({ whole: each }) => each) });
    if (!call.stream) return [JSON.stringify(whole)];
    const begun = responseOf(call, `resp_${id}`);
    const events = [
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
      ...items.flatMap(({ begin, whole: item, events: own }, output_index) => [
        { type: "response.output_item.added", output_index, item: begin },
        ...own.map((event) => ({ ...event, output_index, item_id: item["id"] })),
        { type: "response.output_item.done", output_index, item },
      ]),
      { type: `response.${String(whole["status"])}`, response: whole },
    ];
    return events.map((event, sequence_number) => this.event({ ...event, sequence_number }));
  },

  event(data) {
    const { type = "error" } = data as { readonly type?: string };
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  },

  error: ({ body }) => body,
};

/** Returns a response that has ended, or has begun. */
function responseOf(
  { model, parameters }: ModelCall,
  id: string,
  ended?: { readonly answer: ModelAnswer; readonly output: readonly JsonObject[] },
): JsonObject {
  const isCut = ended?.answer.finishReason === "length";
  return {
    ...{ id, object: "response", created_at: 0, model, error: null, instructions: null, metadata: {} },
    status: ended === undefined ? "in_progress" : isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: ended?.output ?? [],
    ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [], temperature: null, top_p: null },
    ...{ text: { format: { type: "text" } }, truncation: "disabled", previous_response_id: null },
    reasoning: parameters["reasoning"] ?? { effort: null, summary: null },
    usage: ended === undefined ? null : USAGE,
  };
}

function itemsOf(message: Message, id: string): Item[] {
  const items = deltasOf(message).map((part, i): Item => {
    const number = `${id}-${i}`;
    if (part.type === "content") return textItem(`msg_${number}`, part.text);
    if (part.type === "reasoning") return reasoningItem(`rs_${number}`, part.text);
    const { call } = part;
    return callItem(`fc_${number}`, call.id, call.name, JSON.stringify(call.arguments));
  });
  // Clients read a message in each answer.
  return items.length > 0 ? items : [textItem(`msg_${id}-0`, "")];
}

function textItem(id: string, text: string): Item {
  const [head, place] = [{ id, type: "message", role: "assistant" }, { content_index: 0 }];
  const [empty, part] = ["", text].map((each) => ({ type: "output_text", text: each, annotations: [], logprobs: [] }));
  return {
    begin: { ...head, status: "in_progress", content: [] },
    whole: { ...head, status: "completed", content: [part as JsonObject] },
    events: [
      { type: "response.content_part.added", ...place, part: empty as JsonObject },
      { type: "response.output_text.delta", ...place, delta: text, logprobs: [] },
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part: part as JsonObject },
    ],
  };
}

function reasoningItem(id: string, text: string): Item {
  const [head, place] = [{ id, type: "reasoning", summary: [] }, { content_index: 0 }];
  return {
    begin: { ...head, content: [] },
    whole: { ...head, content: [{ type: "reasoning_text", text }] },
    events: [
      { type: "response.reasoning_text.delta", ...place, delta: text },
      { type: "response.reasoning_text.done", ...place, text },
    ],
  };
}

function callItem(id: string, call_id: string, name: string, given: string): Item {
  const head = { id, type: "function_call", call_id, name };
  return {
    begin: { ...head, arguments: "", status: "in_progress" },
    whole: { ...head, arguments: given, status: "completed" },
    events: [
      { type: "response.function_call_arguments.delta", delta: given },
      { type: "response.function_call_arguments.done", name, arguments: given },
    ],
  };
}
