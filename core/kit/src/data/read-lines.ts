import { createReadStream } from "node:fs";

/**
 * Lines of a UTF-8 file, one after the other, without a byte order mark; the last one may lack its end. They end at a newline alone: JSON may hold the
 * separators U+2028 and U+2029, at which node:readline ends lines too. Rejects as the file system does.
 */
export async function* readLines(path: string): AsyncGenerator<string, void, undefined> {
  let pieces: string[] = [];
  let isFirst = true;
  for await (const text of createReadStream(path, "utf8") as AsyncIterable<string>) {
    const [end, ...lines] = (isFirst && text.startsWith("\uFEFF") ? text.slice(1) : text).split("\n");
    isFirst = false;
    pieces.push(end as string);
    for (const line of lines) {
      yield pieces.join("");
      pieces = [line];
    }
  }
  const last = pieces.join("");
  if (last !== "") yield last;
}
