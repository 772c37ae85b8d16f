import type { FileTree } from "./file-tree.ts";
import { showPath } from "./list-files.ts";
import { isText } from "./text.ts";

/** Lines that one search returns. */
const MAX_LINES = 200;

/** Characters of a line that a search returns. */
const LINE_LENGTH = 300;

/** Input of `searchFiles`. */
export interface Search {
  readonly text: string;
  readonly path: string;
  readonly ignoreCase: boolean;
}

/** Finds a text in all text files below a directory: `PATH:LINE: CONTENT` for each line. A pattern is not supported: its time has no bound. */
export async function searchFiles(tree: FileTree, { text, path, ignoreCase }: Search): Promise<string> {
  const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value);
  const wanted = fold(text);
  const found: string[] = [];
  const skipped: string[] = [];
  for await (const { names, name, parent, stats } of tree.entries(path)) {
    if (stats.isDirectory()) continue;
    const content = stats.isFile() && stats.nlink === 1 ? await tree.readEntry(parent, name) : undefined;
    if (content === undefined || !isText(content)) {
      skipped.push(showPath(names));
      continue;
    }
    const whole = content.toString("utf8");
    if (!fold(whole).includes(wanted)) continue;
    for (const [index, line] of whole.split("\n").entries()) {
      if (!fold(line).includes(wanted)) continue;
      if (found.length === MAX_LINES)
        return `${found.join("\n")}\n[more than ${MAX_LINES} lines: search for a longer text]`;
      found.push(`${showPath([...prefix(path), ...names])}:${index + 1}: ${shorten(line)}`);
    }
  }
  const note =
    skipped.length === 0 ? "" : `\n[not searched, because they are no text files: ${skipped.slice(0, 5).join(", ")}]`;
  return `${found.length === 0 ? "No line contains the text." : found.join("\n")}${note}`;
}

const prefix = (path: string): string[] => path.split("/").filter((name) => name !== "" && name !== ".");

function shorten(line: string): string {
  if (line.length <= LINE_LENGTH) return line;
  return `${line.slice(0, LINE_LENGTH).toWellFormed()}[...]`;
}
