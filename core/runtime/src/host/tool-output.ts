import type { ToolResult } from "@mrlm/spec";

const DEFAULT_OUTPUT_BYTES = 65_536;
/** Limit of all images of a result. It protects the transport and is far above what a model can read. */
const IMAGE_BYTES = 4 * 1024 * 1024;
/** Limit of the parts of a result. */
const MAX_PARTS = 1_000;

/**
 * Cuts the text of a result to a limit of UTF-8 bytes, on a character boundary, and its images to 4 MiB together. The result states each cut. Text after a
 * cut is dropped.
 */
export function limitOutput(result: ToolResult, outputBytes = DEFAULT_OUTPUT_BYTES): ToolResult {
  const sizes = result.content.map((part) => (part.type === "text" ? Buffer.byteLength(part.text) : 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const content: ToolResult["content"][number][] = [];
  let [isCut, isTextCut, left, imagesLeft] = [false, false, outputBytes, IMAGE_BYTES];
  for (const [i, part] of result.content.entries()) {
    if (content.length === MAX_PARTS) {
      isCut = true;
      content.push({ type: "text", text: `[truncated: ${MAX_PARTS} of ${result.content.length} parts]` });
      break;
    }
    if (part.type === "image") {
      // A URL may hold the image itself (data:).
      const bytes = "data" in part.source ? part.source.data.byteLength : Buffer.byteLength(part.source.url);
      if (bytes <= imagesLeft) {
        imagesLeft -= bytes;
        content.push(part);
      } else {
        isCut = true;
        content.push({ type: "text", text: `[image of ${bytes} bytes left out: the limit is ${IMAGE_BYTES}]` });
      }
      continue;
    }
    if (isTextCut) continue;
    const size = sizes[i] as number;
    if (size <= left) {
      left -= size;
      content.push(part);
      continue;
    }
    [isCut, isTextCut] = [true, true];
    const kept = cut(part.text, left);
    const shown = outputBytes - left + Buffer.byteLength(kept);
    content.push({ type: "text", text: `${kept}\n[truncated: ${shown} of ${total} bytes]` });
  }
  return isCut ? { ...result, content, truncated: true } : result;
}

function cut(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  return bytes.subarray(0, boundary(bytes, limit)).toString();
}

/** Returns the largest length of at most `limit` that does not divide a character. */
function boundary(bytes: Uint8Array, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] as number) & 0b1100_0000) === 0b1000_0000) end--;
  return end;
}
