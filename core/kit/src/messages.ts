import type { Message, MessageRole, ToolCallPart } from "@mrlm/spec";

/** A message of plain text. */
export function textMessage(role: MessageRole, text: string): Message {
  return { role, parts: [{ type: "text", text }] };
}

/** The text of a message: its text parts in order, without reasoning, pictures or tool calls. */
export function messageText(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The tool calls in a message. */
export function toolCalls(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool-call");
}
