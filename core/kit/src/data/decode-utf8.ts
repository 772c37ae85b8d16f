import { isUtf8 } from "node:buffer";
import { type ErrorCode, MrlmError } from "@mrlm/spec";

const NEWLINE = 0x0a;
const HINT = "Save the file as UTF-8: characters of another encoding would be replaced.";

/**
 * Decodes the bytes of a text file without its byte order mark. Throws an error that names the first line that is not UTF-8.
 * @param path name of the file in the message
 * @param firstLine number of the first line of `bytes`
 */
export function decodeUtf8(
  bytes: Uint8Array,
  path: string,
  { code = "DATA_INVALID", firstLine = 1 }: { readonly code?: ErrorCode; readonly firstLine?: number } = {},
): string {
  if (isUtf8(bytes)) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    return firstLine === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;
  }
  let line = firstLine;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
  }
  throw new MrlmError(code, `${path}:${line}: the line is not UTF-8.`, { hint: HINT });
}
