import type { ToolResult } from "@mrlm/spec";

const DEFAULT_OUTPUT_BYTES = 65_536;
/** Limit of one image. It protects the transport and is far above what a model can read. */
const IMAGE_BYTES = 4 * 1024 * 1024;

/** Cuts the text of a result to a limit of UTF-8 bytes, on a character boundary. Replaces an image above 4 MiB by a text. The result states both. */
export function limitOutput(result: ToolResult, outputBytes = DEFAULT_OUTPUT_BYTES): ToolResult {
  let left = outputBytes;
  let isCut = false;
  const content = result.content.map((part): ToolResult["content"][number] => {
    if (part.type === "image") {
      const bytes = "data" in part.source ? part.source.data.byteLength : 0;
      if (bytes <= IMAGE_BYTES) return part;
      isCut = true;
      return { type: "text", text: `[image of ${bytes} bytes left out: the limit is ${IMAGE_BYTES}]` };
    }
    const bytes = Buffer.from(part.text);
    if (bytes.length <= left) {
      left -= bytes.length;
      return part;
    }
    isCut = true;
    const kept = bytes.subarray(0, boundary(bytes, left)).toString();
    const text = `${kept}\n[truncated: ${Buffer.byteLength(kept)} of ${bytes.length} bytes]`;
    left = 0;
    return { type: "text", text };
  });
  return isCut ? { ...result, content, truncated: true } : result;
}

/** Returns the largest length of at most `limit` that does not divide a character. */
function boundary(bytes: Uint8Array, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] as number) & 0b1100_0000) === 0b1000_0000) end--;
  return end;
}
