import { defined, isObject, type JsonObject, type Message, parseJson, type Part } from "@mrlm/spec";
import { z } from "zod";
import { toolCalls } from "../messages.ts";

const malformedCall = z.object({
  /** Offset in `content`, in UTF-16 units, at which the text of the call begins. */
  at: z.int().nonnegative(),
  text: z.string(),
  format: z.string(),
  error: z.string(),
  /** Offset of the fault in `text`. */
  offset: z.int().nonnegative(),
});

/** Schema of a message in data files: the form of Hugging Face chat data. Arguments of a call are a JSON string, so that all rows have the same columns. */
export const chatMessage = z
  .object({
    role: z.enum(["system", "user", "assistant", "tool"]),
    content: z.string().nullish(),
    name: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    tool_calls: z
      .array(
        z.object({
          id: z.string().nullish(),
          function: z.object({
            name: z.string(),
            arguments: z.union([
              z.string().refine(isJsonObject, "must be a JSON object"),
              z.record(z.string(), z.json()),
            ]),
          }),
        }),
      )
      .nullish(),
    malformed_calls: z.array(malformedCall).nullish(),
    tool_call_id: z.string().nullish(),
  })
  .refine(({ content, malformed_calls }) => areInContent(content ?? "", malformed_calls ?? []), {
    path: ["malformed_calls"],
    error: "`content` must have each `text` at its place `at`, in ascending order",
  });

type MalformedCall = z.output<typeof malformedCall>;

/** Parsed {@link chatMessage}. */
export type ChatMessage = z.output<typeof chatMessage>;

/**
 * Converts a message: several tool results become one message each, and a picture becomes its media type. The content has the text of malformed calls, which
 * `malformed_calls` lists.
 */
export function toChatMessages(message: Message): ChatMessage[] {
  const { role, name, parts } = message;
  const results = parts.filter((part) => part.type === "tool-result");
  if (results.length > 0)
    return results.map(({ id, name: tool, content }) => ({
      role,
      content: content.map(shown).join(""),
      name: tool,
      tool_call_id: id,
    }));
  const content = parts.map(shown).join("");
  const reasoning = parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const calls = toolCalls(message).map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  const malformed = malformedCalls(parts);
  return [
    {
      role,
      content,
      ...defined({ name }),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(malformed.length === 0 ? {} : { malformed_calls: malformed }),
    },
  ];
}

/** Returns the malformed calls of a message, with their places in its content. */
function malformedCalls(parts: readonly Part[]): MalformedCall[] {
  let at = 0;
  return parts.flatMap((part) => {
    const begin = at;
    at += shown(part).length;
    if (part.type !== "malformed-call") return [];
    const { text, format, error, offset } = part;
    return [{ at: begin, text, format, error, offset }];
  });
}

/** Converts a message of a data file. */
export function fromChatMessage({
  role,
  content,
  name,
  reasoning_content,
  tool_calls,
  malformed_calls,
  tool_call_id,
}: ChatMessage): Message {
  const text = contentParts(content ?? "", malformed_calls ?? []);
  if (role === "tool" && tool_call_id) {
    return {
      role,
      parts: [
        {
          type: "tool-result",
          id: tool_call_id,
          name: name ?? "",
          content: text.filter((part) => part.type === "text"),
          isError: false,
        },
      ],
    };
  }
  const calls = (tool_calls ?? []).map(({ id, function: { name: tool, arguments: given } }, i): Part => {
    return {
      type: "tool-call",
      id: id ?? `call-${i}`,
      name: tool,
      arguments: typeof given === "string" ? (parseJson(given) as JsonObject) : given,
    };
  });
  const thinking: readonly Part[] = reasoning_content ? [{ type: "thinking", text: reasoning_content }] : [];
  return { role, ...(name ? { name } : {}), parts: [...thinking, ...text, ...calls] };
}

/** Divides a content into text and malformed calls. */
function contentParts(content: string, calls: readonly MalformedCall[]): Part[] {
  const parts: Part[] = [];
  const write = (from: number, to: number): void => {
    if (to > from) parts.push({ type: "text", text: content.slice(from, to) });
  };
  let written = 0;
  for (const { at, ...call } of calls) {
    write(written, at);
    parts.push({ type: "malformed-call", ...call });
    written = at + call.text.length;
  }
  write(written, content.length);
  return parts;
}

function areInContent(content: string, calls: readonly MalformedCall[]): boolean {
  let end = 0;
  return calls.every(({ at, text }) => {
    const isNext = at >= end && content.startsWith(text, at);
    end = at + text.length;
    return isNext && end <= content.length;
  });
}

/** Returns true for a JSON object as text. */
export function isJsonObject(text: string): boolean {
  try {
    const value = parseJson(text);
    return isObject(value);
  } catch {
    return false;
  }
}

function shown(part: Part): string {
  if (part.type === "image") return `[${part.mediaType}]`;
  return part.type === "text" || part.type === "malformed-call" ? part.text : "";
}
