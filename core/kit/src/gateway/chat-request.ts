import { defined, isObject, type JsonObject, type Message, parseStrictJson } from "@mrlm/spec";
import { z } from "zod";
import { assertSendable } from "../http/parse-client-json.ts";
import { fromChatMessage } from "../recorded/chat-message.ts";
import { fromChatTools } from "../recorded/chat-tools.ts";
import { invalidParameter } from "./api-error.ts";
import { checkResults } from "./check-results.ts";
import type { ModelCall } from "./codec.ts";
import { contentSchema, contentText } from "./content-text.ts";
import { parseBody, type Place, recordedParameters, samplingParameters, unsupported } from "./parameters.ts";
import { checkToolNames, toolName } from "./tool-names.ts";

const message = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: contentSchema.nullish(),
  name: z.string().nullish(),
  refusal: z.null().optional(),
  // Members of answers that clients send back, and one that the package of OpenAI adds.
  parsed: z.unknown().optional(),
  audio: z.null().optional(),
  function_call: z.null().optional(),
  annotations: z.array(z.unknown()).max(0).nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        id: z.string(),
        type: z.literal("function").optional(),
        function: z.object({ name: z.string(), arguments: z.string() }),
      }),
    )
    .nullish(),
  tool_call_id: z.string().nullish(),
});

const tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: toolName,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
    /** Recorded: arguments are not constrained to the schema. */
    strict: z.boolean().nullish(),
  }),
});
const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) }),
]);

const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({ name: z.string(), schema: z.record(z.string(), z.json()).optional() }),
  }),
]);

const chatBody = z.strictObject({
  ...samplingParameters,
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(1).optional(),
  logprobs: z.boolean().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z.unknown().optional(),
  response_format: responseFormat.optional(),
});

/** Request of `/v1/chat/completions`. */
export interface ChatRequest extends ModelCall {
  /** Number of answers. */
  readonly n: number;
  readonly logprobs: boolean;
  readonly returnTokenIds: boolean;
  readonly includeUsage: boolean;
}

/** Parses a request. Throws ApiError with status 400. */
export function parseChatRequest(body: unknown, place: Place = "server"): ChatRequest {
  const {
    model,
    messages,
    tools = [],
    tool_choice,
    response_format,
    stop,
    stream = false,
    stream_options,
    max_tokens,
    max_completion_tokens,
    n = 1,
    logprobs = false,
    return_token_ids = false,
    user: _,
    ...sampling
  } = parseBody(chatBody, body, place);
  const choice = toolChoice.safeParse(tool_choice ?? "auto").data;
  if (choice === undefined) throw unsupported("tool_choice");
  if (max_tokens === 0) throw invalidParameter("max_tokens", "Invalid value for 'max_tokens': it is 0.");
  checkToolNames(
    tools.map((each) => each.function.name),
    place,
    (i) => `tools.${i}.function.name`,
  );
  return {
    messages: toMessages(messages),
    tools: choice === "none" ? [] : fromChatTools(tools),
    model,
    stream,
    stops: [stop ?? []].flat(),
    sampling,
    parameters: recordedParameters(body as JsonObject),
    ...{ n, logprobs, returnTokenIds: return_token_ids, includeUsage: stream_options?.include_usage ?? false },
    ...defined({ maxTokens: max_completion_tokens ?? max_tokens }),
    ...(choice === "required" && { requiredTool: "" }),
    ...(typeof choice === "object" && { requiredTool: choice.function.name }),
    ...(response_format?.type === "json_object" && { format: {} }),
    ...(response_format?.type === "json_schema" && {
      format: defined({ name: response_format.json_schema.name, schema: response_format.json_schema.schema }),
    }),
  };
}

function toMessages(given: readonly z.output<typeof message>[]): Message[] {
  /** Names of the called tools, which the results of OpenAI's form do not have. */
  const names = new Map<string, string>();
  const messages = given.map(({ role, content, ...rest }, i) => {
    for (const call of rest.tool_calls ?? []) names.set(call.id, call.function.name);
    if (role === "tool" && !rest.tool_call_id)
      throw invalidParameter(
        `messages.${i}.tool_call_id`,
        `Message ${i} is a result of a tool without 'tool_call_id'.`,
      );
    const name = rest.name ?? names.get(rest.tool_call_id ?? "");
    return fromChatMessage({
      ...rest,
      role: role === "developer" ? "system" : role,
      content: contentText(content, `messages.${i}.content`),
      ...defined({ name }),
      tool_calls: rest.tool_calls?.map((call, c) => ({
        ...call,
        function: {
          ...call.function,
          arguments: argumentsOf(call.function.arguments, `messages.${i}.tool_calls.${c}.function`),
        },
      })),
    });
  });
  checkResults(given);
  return messages;
}

/** Parses the arguments of a call. Models leave those of a tool without parameters out. Throws ApiError with status 400. */
export function argumentsOf(text: string, place: string): Record<string, z.output<ReturnType<typeof z.json>>> {
  let value: unknown;
  try {
    value = parseStrictJson(text.trim() === "" ? "{}" : text);
    assertSendable(value);
  } catch {
    value = undefined;
  }
  if (!isObject(value))
    throw invalidParameter(`${place}.arguments`, "The arguments of a call are not a JSON object as text.");
  return value as ReturnType<typeof argumentsOf>;
}
