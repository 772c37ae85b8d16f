import { createReadStream } from "node:fs";

/**
 * Yields the lines of a UTF-8 file without byte order mark. Lines end at a newline only: JSON may contain the separators U+2028 and U+2029, at which
 * node:readline ends lines too. The last line may have no newline. Rejects with the errors of the file system.
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
