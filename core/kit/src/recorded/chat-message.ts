import type { Message, Part } from "@mrlm/spec";
import { z } from "zod";
import { toolCalls } from "../messages.ts";

/** Schema of a message in data files: the form of Hugging Face chat data. Arguments of a call are a JSON string, so that all rows have the same columns. */
export const chatMessage = z.object({
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
  tool_call_id: z.string().nullish(),
});

/** Parsed {@link chatMessage}. */
export type ChatMessage = z.output<typeof chatMessage>;

/** Converts a message: several tool results become one message each, and a picture becomes its media type. */
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
  const reasoning = parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const calls = toolCalls(message).map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return [
    {
      role,
      content: parts.map(shown).join(""),
      ...(name === undefined ? {} : { name }),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** Converts a message of a data file. */
export function fromChatMessage({
  role,
  content,
  name,
  reasoning_content,
  tool_calls,
  tool_call_id,
}: ChatMessage): Message {
  const text: readonly Part[] = content ? [{ type: "text", text: content }] : [];
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
      arguments: typeof given === "string" ? JSON.parse(given) : given,
    };
  });
  const thinking: readonly Part[] = reasoning_content ? [{ type: "thinking", text: reasoning_content }] : [];
  return { role, ...(name ? { name } : {}), parts: [...thinking, ...text, ...calls] };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function shown(part: Part): string {
  if (part.type === "image") return `[${part.mediaType}]`;
  return part.type === "text" ? part.text : "";
}
