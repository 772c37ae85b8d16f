import type { JsonObject } from "@mrlm/spec";
import { AnswerItems, type ItemForm } from "./answer-items.ts";
import type { AnswerEnd, Codec, Delta, ModelCall, ResponseStart } from "./codec.ts";
import { SCHEMA_FAILED } from "./instructions.ts";
import { IN_NAMESPACE, parseResponsesRequest, sealed } from "./responses-request.ts";

/** Responses of OpenAI. Nothing is stored: a request has the whole conversation. */
export const openaiResponses: Codec = {
  wire: "openai-responses",
  path: "/responses",
  list: "input",
  read: parseResponsesRequest,

  begin(call, start) {
    const items = new AnswerItems(formOf(start.id, call));
    const begun = responseOf(call, start);
    const begin: JsonObject[] = ["created", "in_progress"].map((at) => ({ type: `response.${at}`, response: begun }));
    let number = 0;
    const numbered = (events: readonly JsonObject[]): object[] =>
      [...begin.splice(0), ...events].map((event) => ({ ...event, sequence_number: number++ }));
    return {
      add: (deltas) => numbered(items.add(deltas)),
      end(answer) {
        // Clients read a message in each answer.
        const events = items.isEmpty ? items.add([{ type: "content", text: "" }]) : [];
        const hasFormat = items.hasFormat(call);
        const ended = responseOf(call, start, { answer, output: items.whole() });
        const whole = { ...ended, ...(!hasFormat && SCHEMA_FAILED) };
        const last = { type: `response.${String(ended["status"])}`, response: whole };
        return { events: numbered([...events, ...items.close(), last]), whole, hasFormat };
      },
    };
  },

  event(data) {
    const { type = "error" } = data as { readonly type?: string };
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  },
  streamEnd: "",
  error: ({ body }) => body,
};

/** Returns a response that has ended, or has begun. */
function responseOf(
  { model, parameters, sampling, maxTokens }: ModelCall,
  { id, created, inputTokens }: ResponseStart,
  ended?: { readonly answer: AnswerEnd; readonly output: readonly JsonObject[] },
): JsonObject {
  const isCut = ended?.answer.finishReason === "length";
  const outputTokens = ended?.answer.outputTokens ?? 0;
  const usage = {
    ...{ input_tokens: inputTokens, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: outputTokens, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: inputTokens + outputTokens,
  };
  return {
    ...{ id: `resp_${id}`, object: "response", created_at: created, model, error: null, instructions: null },
    status: ended === undefined ? "in_progress" : isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: ended?.output ?? [],
    ...{ parallel_tool_calls: true, tool_choice: "auto", tools: [], metadata: parameters["metadata"] ?? {} },
    ...{ temperature: sampling.temperature ?? null, top_p: sampling.top_p ?? null },
    ...{ max_output_tokens: maxTokens ?? null, text: { format: { type: "text" } } },
    ...{ truncation: "disabled", previous_response_id: null },
    reasoning: parameters["reasoning"] ?? { effort: null, summary: null },
    usage: ended === undefined ? null : usage,
  };
}

/** Prefixes of the ids of items. */
const PREFIXES = { content: "msg", reasoning: "rs", call: "fc" } as const;

/** Tools of a request that this API alone has. */
type OwnTools = Pick<ModelCall, "namespaces" | "textTools">;

/** Returns the form of the items of a response. */
function formOf(response: string, request: OwnTools): ItemForm {
  const idOf = ({ type }: Delta, index: number): string => `${PREFIXES[type]}_${response}-${index}`;
  const placeOf = (item: Delta, output_index: number): JsonObject => ({
    ...{ output_index, item_id: idOf(item, output_index) },
    ...(item.type !== "call" && { content_index: 0 }),
  });
  const whole = (item: Delta, index: number): JsonObject => itemOf(item, idOf(item, index), true, request);
  return {
    begin(item, output_index) {
      const begun = itemOf(item, idOf(item, output_index), false, request);
      const added = { type: "response.output_item.added", output_index, item: begun };
      if (item.type === "call") return [added];
      const part = contentPart({ ...item, text: "" });
      return [added, { type: "response.content_part.added", ...placeOf(item, output_index), part }];
    },
    delta: (part, index) => ({ ...deltaOf(part, request), ...placeOf(part, index) }),
    end(item, output_index) {
      const done = doneEvents(item, request).map((event) => ({ ...event, ...placeOf(item, output_index) }));
      return [...done, { type: "response.output_item.done", output_index, item: whole(item, output_index) }];
    },
    whole,
  };
}

function deltaOf(part: Delta, { textTools }: OwnTools): JsonObject {
  if (part.type === "content") return { type: "response.output_text.delta", delta: part.text, logprobs: [] };
  if (part.type === "reasoning") return { type: "response.reasoning_text.delta", delta: part.text };
  const { name, arguments: given } = part.call;
  return textTools?.has(name) === true
    ? { type: "response.custom_tool_call_input.delta", delta: inputOf(given) }
    : { type: "response.function_call_arguments.delta", delta: JSON.stringify(given) };
}

/** Returns the text for a custom tool. A policy that gives other arguments gives their JSON. */
function inputOf(given: JsonObject): string {
  return Object.keys(given).length === 1 && typeof given["input"] === "string" ? given["input"] : JSON.stringify(given);
}

function doneEvents(item: Delta, { namespaces, textTools }: OwnTools): JsonObject[] {
  if (item.type === "call") {
    const { name, arguments: given } = item.call;
    if (textTools?.has(name) === true) return [{ type: "response.custom_tool_call_input.done", input: inputOf(given) }];
    return [
      { type: "response.function_call_arguments.done", ...nameOf(name, namespaces), arguments: JSON.stringify(given) },
    ];
  }
  const { text } = item;
  return [
    item.type === "content"
      ? { type: "response.output_text.done", text, logprobs: [] }
      : { type: "response.reasoning_text.done", text },
    { type: "response.content_part.done", part: contentPart(item) },
  ];
}

/** Returns an item as it begins, or as a whole. */
function itemOf(item: Delta, id: string, isWhole: boolean, { namespaces, textTools }: OwnTools): JsonObject {
  const status = isWhole ? "completed" : "in_progress";
  if (item.type === "call") {
    const { id: call_id, name, arguments: given } = item.call;
    if (textTools?.has(name) === true)
      return {
        id,
        type: "custom_tool_call",
        call_id,
        ...nameOf(name, namespaces),
        input: isWhole ? inputOf(given) : "",
      };
    return {
      id,
      type: "function_call",
      call_id,
      ...nameOf(name, namespaces),
      arguments: isWhole ? JSON.stringify(given) : "",
      status,
    };
  }
  const content = isWhole ? [contentPart(item)] : [];
  if (item.type === "content") return { id, type: "message", role: "assistant", status, content };
  // Clients without stored responses return this alone.
  return { id, type: "reasoning", summary: [], content, encrypted_content: isWhole ? sealed.write(item.text) : "" };
}

/** Returns the name of a function, and its namespace, as the program knows them. */
function nameOf(name: string, namespaces: ModelCall["namespaces"]): JsonObject {
  const namespace = namespaces?.get(name);
  return namespace === undefined ? { name } : { namespace, name: name.slice(namespace.length + IN_NAMESPACE.length) };
}

function contentPart({ type, text }: Exclude<Delta, { readonly type: "call" }>): JsonObject {
  return type === "reasoning"
    ? { type: "reasoning_text", text }
    : { type: "output_text", text, annotations: [], logprobs: [] };
}
