import type { ImagePart, Message, Part, TextPart, ToolDefinition } from "@mrlm/spec";
import type OpenAI from "openai";

type ChatMessage = OpenAI.ChatCompletionMessageParam;
/** Fields of a request beside the model. */
export type ChatBody = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model" | "stream">;
type ContentPart = OpenAI.ChatCompletionContentPartText | OpenAI.ChatCompletionContentPartImage;

/** Returns messages in the form of chat completions. The reasoning of earlier turns is left out, as endpoints expect. */
export function chatMessages(messages: readonly Message[]): ChatMessage[] {
  return messages.flatMap(chatMessage);
}

/** Returns tools in the form of chat completions. */
export function chatTools(tools: readonly ToolDefinition[]): OpenAI.ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

function chatMessage({ role, name, parts }: Message): ChatMessage[] {
  const named = name === undefined ? {} : { name: name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) };
  switch (role) {
    case "system":
      return [{ role, content: textOf(parts), ...named }];
    case "user":
      return [{ role, content: contentOf(parts), ...named }];
    case "assistant":
      return [assistantMessage(parts, named)];
    case "tool":
      return toolMessages(parts);
  }
}

function assistantMessage(parts: readonly Part[], named: { name?: string }): ChatMessage {
  const calls = parts.flatMap((part) =>
    part.type === "tool-call"
      ? [
          {
            id: part.id,
            type: "function" as const,
            function: { name: part.name, arguments: JSON.stringify(part.arguments) },
          },
        ]
      : [],
  );
  const content = textOf(parts);
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...named,
  };
}

/** Chat completions have one message for each result, of text alone. Pictures and texts without a call follow as a message of the user. */
function toolMessages(parts: readonly Part[]): ChatMessage[] {
  const results = parts.filter((part) => part.type === "tool-result");
  const rest: readonly Part[] = [
    ...results.flatMap(({ content }) => content.filter((part) => part.type === "image")),
    ...parts.filter((part) => part.type !== "tool-result"),
  ];
  return [
    ...results.map(({ id, content }) => ({ role: "tool" as const, tool_call_id: id, content: textOf(content) })),
    ...(rest.length === 0 ? [] : [{ role: "user" as const, content: contentOf(rest) }]),
  ];
}

/** Texts of the parts; a malformed call is text that the model wrote. */
function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" || part.type === "malformed-call" ? [part.text] : [])).join("");
}

function contentOf(parts: readonly Part[]): string | ContentPart[] {
  const shown = parts.filter((part): part is TextPart | ImagePart => part.type === "text" || part.type === "image");
  if (shown.every((part) => part.type === "text")) return textOf(shown);
  return shown.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: imageUrl(part) } },
  );
}

function imageUrl({ mediaType, source }: ImagePart): string {
  return "url" in source ? source.url : `data:${mediaType};base64,${Buffer.from(source.data).toString("base64")}`;
}
