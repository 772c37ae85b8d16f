import { fromChatMessage, fromChatTools } from "@mrlm/kit/learning";
import { defined, isObject, type Message, parseJson, type ToolDefinition } from "@mrlm/spec";
import { z } from "zod";
import { invalidParameter } from "./api-error.ts";
import { checkResults } from "./check-results.ts";
import { parseBody, type SamplingParameters, samplingParameters, unsupported } from "./parameters.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });

const message = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  name: z.string().nullish(),
  refusal: z.null().optional(),
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
    name: z.string().regex(/^[\w.-]{1,128}$/),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
    strict: z.literal(false).nullish(),
  }),
});

const chatBody = z.strictObject({
  ...samplingParameters,
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(1).optional(),
  logprobs: z.boolean().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z.unknown().optional(),
});

/** Request of `/v1/chat/completions`. */
export interface ChatRequest extends Omit<SamplingParameters, "max_tokens"> {
  readonly messages: readonly Message[];
  /** Tools that the policy may call; empty with `tool_choice: "none"`. */
  readonly tools: readonly ToolDefinition[];
  readonly maxTokens: number | undefined;
  readonly logprobs: boolean;
}

/** Parses a request. Throws ApiError with status 400. */
export function parseChatRequest(body: unknown): ChatRequest {
  const {
    messages,
    tools = [],
    tool_choice: choice,
    max_tokens,
    max_completion_tokens,
    logprobs,
    ...sampling
  } = parseBody(chatBody, body);
  if (choice !== undefined && choice !== "none" && choice !== "auto")
    throw unsupported("tool_choice", ' It is "none" or "auto".');
  if (max_tokens === 0) throw invalidParameter("max_tokens", "Invalid value for 'max_tokens': it is 0.");
  return {
    ...sampling,
    messages: toMessages(messages),
    tools: choice === "none" ? [] : fromChatTools(tools),
    maxTokens: max_completion_tokens ?? max_tokens,
    logprobs: logprobs ?? false,
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
      content: textOf(content, i),
      ...defined({ name }),
      tool_calls: rest.tool_calls?.map((call, c) => ({
        ...call,
        function: {
          ...call.function,
          arguments: argumentsOf(call.function.arguments, `messages.${i}.tool_calls.${c}`),
        },
      })),
    });
  });
  checkResults(given);
  return messages;
}

function textOf(content: z.output<typeof message>["content"], i: number): string {
  if (typeof content === "string" || content === undefined || content === null) return content ?? "";
  return content
    .map((part, p) => {
      const text = textPart.safeParse(part);
      if (!text.success) throw unsupported(`messages.${i}.content.${p}`, ` A part of type '${part.type}' is not text.`);
      return text.data.text;
    })
    .join("");
}

function argumentsOf(text: string, place: string): Record<string, z.output<ReturnType<typeof z.json>>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // Reported below.
  }
  if (!isObject(value))
    throw invalidParameter(`${place}.function.arguments`, "The arguments of a call are not a JSON object as text.");
  return value as ReturnType<typeof argumentsOf>;
}
