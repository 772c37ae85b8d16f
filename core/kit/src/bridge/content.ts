import { type ImagePart, isObject, type JsonValue, type TextPart } from "@mrlm/spec";

/** Returns the text of a value: a text as it is, anything else as JSON. */
export function textOrJson(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Returns blocks of MCP or ORS, `{ type: "text", text }` and `{ type: "image", data, mimeType }`, as parts. Other blocks become JSON. */
export function contentOf(blocks: readonly JsonValue[]): (TextPart | ImagePart)[] {
  return blocks.map((block): TextPart | ImagePart => {
    if (isObject(block)) {
      const { type, text, data, mimeType } = block;
      if (type === "text" && typeof text === "string") return { type: "text", text };
      if (type === "image" && typeof data === "string" && typeof mimeType === "string")
        return { type: "image", mediaType: mimeType, source: { data: new Uint8Array(Buffer.from(data, "base64")) } };
    }
    return { type: "text", text: textOrJson(block) };
  });
}
