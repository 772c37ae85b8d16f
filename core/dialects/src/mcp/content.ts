import type { ContentBlock } from "@modelcontextprotocol/server";
import type { Message, Part } from "@mrlm/spec";

/** Returns the parts of messages that a client may show: text, images and the contents of tool results. */
export function contentOf(messages: readonly Message[]): ContentBlock[] {
  return messages.flatMap(({ parts }) => parts.flatMap(blocksOf));
}

/** Returns the text of messages, without images. */
export function textOf(messages: readonly Message[]): string {
  return contentOf(messages)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n\n");
}

function blocksOf(part: Part): ContentBlock[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "tool-result") return part.content.flatMap(blocksOf);
  if (part.type !== "image") return [];
  const { mediaType, source } = part;
  return "url" in source
    ? [{ type: "text", text: `Image: ${source.url}` }]
    : [{ type: "image", data: Buffer.from(source.data).toString("base64"), mimeType: mediaType }];
}
