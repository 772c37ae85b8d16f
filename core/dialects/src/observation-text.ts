import type { Message, Part } from "@mrlm/spec";

/** Returns the text of messages, without images: for clients that show text only. */
export function observationText(messages: readonly Message[]): string {
  return messages.flatMap(({ parts }) => parts.flatMap(textsOf)).join("\n\n");
}

/** Returns the texts of a part. The address of an image is text. */
function textsOf(part: Part): string[] {
  if (part.type === "text" || part.type === "malformed-call") return part.text === "" ? [] : [part.text];
  if (part.type === "tool-result") return part.content.flatMap(textsOf);
  return part.type === "image" && "url" in part.source ? [`Image: ${part.source.url}`] : [];
}
