import type { ImagePart, TextPart, ToolResult } from "@mrlm/kit";
import type { ToolSet } from "ai";

/** Result of a tool as a model of the AI SDK reads it. */
export type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]["toModelOutput"]>>>;

type ContentPart = Extract<ModelOutput, { readonly type: "content" }>["value"][number];

/** Returns the text that a model reads for an output without parts. */
export function textOf(output: Exclude<ModelOutput, { readonly type: "content" }>): string {
  if (output.type === "execution-denied") return output.reason ?? "Tool call execution denied.";
  return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
}

/** Returns a part of a result. A part that is no text and no image becomes text in JSON. */
export function contentOf(part: ContentPart): TextPart | ImagePart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "file" && part.mediaType.startsWith("image")) {
    const { mediaType, data } = part;
    if (data.type === "url") return { type: "image", mediaType, source: { url: String(data.url) } };
    if (data.type === "data") return { type: "image", mediaType, source: { data: bytesOf(data.data) } };
  }
  return { type: "text", text: JSON.stringify(part) };
}

/** Returns content as a model reads it. */
export function modelOutputOf(content: ToolResult["content"]): ModelOutput {
  const value = content.map((part): ContentPart => {
    if (part.type === "text") return part;
    const { mediaType, source } = part;
    return "url" in source
      ? { type: "file", mediaType, data: { type: "url", url: new URL(source.url) } }
      : { type: "file", mediaType, data: { type: "data", data: source.data } };
  });
  return { type: "content", value };
}

function bytesOf(data: string | Uint8Array | ArrayBuffer): Uint8Array {
  return typeof data === "string" ? Buffer.from(data, "base64") : new Uint8Array(data);
}
