import type { Message, MessageRole, ToolCallPart } from "@mrlm/spec";

/** Returns a message of plain text. */
export function textMessage(role: MessageRole, text: string): Message {
  return { role, parts: [{ type: "text", text }] };
}

/** Returns the messages of a question: the text of a user message, or messages as they are. */
export function questionMessages(question: string | readonly Message[]): readonly Message[] {
  return typeof question === "string" ? [textMessage("user", question)] : question;
}

/** Returns the text parts of a message, concatenated, without reasoning, pictures and tool calls. */
export function messageText(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function toolCalls(message: Message): ToolCallPart[] {
  return message.parts.filter((part) => part.type === "tool-call");
}
