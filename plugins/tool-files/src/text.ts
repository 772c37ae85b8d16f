import { isUtf8 } from "node:buffer";
import { Refused } from "./refused.ts";

/** Decodes a text file. */
export function decodeText(bytes: Buffer, path: string): string {
  if (!isText(bytes)) throw new Refused(`${path} is not a text file: its ${bytes.length} bytes are not UTF-8 text`);
  return bytes.toString("utf8");
}

/** Returns whether bytes are UTF-8 without NUL. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Encodes a text for a file that `decodeText` can read. */
export function encodeText(text: string): Buffer {
  if (!text.isWellFormed()) throw new Refused("The text contains an unpaired surrogate");
  if (text.includes("\0")) throw new Refused("The text contains a NUL character");
  return Buffer.from(text);
}
