import { isObject, type JsonObject, type Message, parseStrictJson, type Part } from "@mrlm/spec";
import { z } from "zod";
import type { Completion, TokenUsage } from "./model-client.ts";

const toolCall = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.string().nullish() }),
});

/** Parts of a chat completion that are read. Servers add and omit other fields. */
export const chatAnswer = z.object({
  model: z.string().nullish(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          /** Reasoning as vLLM, SGLang and DeepSeek return it, and as OpenRouter does. */
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z.array(toolCall).nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: z.int().nonnegative(),
      completion_tokens: z.int().nonnegative().default(0),
      prompt_tokens_details: z.object({ cached_tokens: z.int().nonnegative().nullish() }).nullish(),
    })
    .nullish()
    .catch(undefined),
});

/** Chat completion of an endpoint. */
export type ChatAnswer = z.infer<typeof chatAnswer>;

/** Returns the message, the refusal and the reason of the end of an answer. */
export function readAnswer({ choices }: ChatAnswer): Pick<Completion, "message" | "text" | "refusal" | "finishReason"> {
  const [{ message, finish_reason }] = choices as [ChatAnswer["choices"][number]];
  const { content, refusal, reasoning_content, reasoning, tool_calls } = message;
  const thinking = reasoning_content ?? reasoning ?? "";
  const text = content ?? "";
  const parts: Part[] = [
    ...(thinking === "" ? [] : [{ type: "thinking" as const, text: thinking }]),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...(tool_calls ?? []).map(callPart),
  ];
  const answer: Message = { role: "assistant", parts };
  return {
    message: answer,
    text,
    ...((refusal ?? "") === "" ? {} : { refusal: refusal as string }),
    finishReason: finish_reason ?? "stop",
  };
}

function callPart({ id, function: { name, arguments: text } }: z.infer<typeof toolCall>, index: number): Part {
  const given = (text ?? "").trim() === "" ? "{}" : (text as string);
  const malformed = (error: string): Part => ({
    type: "malformed-call",
    text: JSON.stringify({ name, arguments: given }),
    format: "openai",
    error,
    offset: 0,
  });
  try {
    const parsed = parseStrictJson(given);
    if (!isObject(parsed)) return malformed("The arguments are no JSON object.");
    return { type: "tool-call", id: id?.trim() ? id : `call_${index}`, name, arguments: parsed as JsonObject };
  } catch (error) {
    return malformed(`The arguments are no JSON: ${(error as Error).message}.`);
  }
}

/** Tokens of an answer as its endpoint states them, without a price. */
export type UsageCount = Omit<TokenUsage, "cost">;

/** Bytes of text per token, where an endpoint states no numbers. */
const BYTES_PER_TOKEN = 4;

/** Returns the tokens of an answer; estimated if the endpoint does not state them. */
export function readUsage({ usage, choices }: ChatAnswer, requestBytes: number): UsageCount {
  if (usage !== null && usage !== undefined)
    return {
      inputTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
      cachedInputTokens: Math.min(usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens ?? 0),
      isEstimated: false,
    };
  const written = Buffer.byteLength(choices.map(({ message }) => JSON.stringify(message)).join(""));
  return {
    inputTokens: Math.ceil(requestBytes / BYTES_PER_TOKEN),
    outputTokens: Math.ceil(written / BYTES_PER_TOKEN),
    cachedInputTokens: 0,
    isEstimated: true,
  };
}
