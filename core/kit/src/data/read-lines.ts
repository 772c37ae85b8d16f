import { createReadStream } from "node:fs";
import { decodeUtf8 } from "./decode-utf8.ts";

const NEWLINE = 0x0a;

/**
 * Yields the lines of a UTF-8 file without byte order mark. Lines end at a newline only: JSON may contain the separators U+2028 and U+2029, at which
 * node:readline ends lines too. The last line may have no newline. Rejects with DATA_INVALID for a line that is not UTF-8, and with the errors of the
 * file system.
 */
export async function* readLines(path: string): AsyncGenerator<string, void, undefined> {
  let pieces: Buffer[] = [];
  let number = 0;
  const line = (): string => decodeUtf8(Buffer.concat(pieces), path, { firstLine: ++number });
  for await (const block of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      pieces.push(block.subarray(start, end));
      yield line();
      pieces = [];
      start = end + 1;
    }
    if (start < block.length) pieces.push(block.subarray(start));
  }
  if (pieces.length > 0) {
    const last = line();
    if (last !== "") yield last;
  }
}
