import type { JsonObject, ToolDefinition } from "@mrlm/kit";
import type { FileTree } from "./file-tree.ts";
import { listFiles } from "./list-files.ts";
import { Refused } from "./refused.ts";
import { searchFiles } from "./search-files.ts";
import { decodeText, encodeText } from "./text.ts";

/** Tool over a tree of files: its definition, and a function from valid arguments to a text. */
export interface FileTool extends ToolDefinition {
  run(tree: FileTree, args: JsonObject): Promise<string>;
}

interface Arguments {
  readonly path: string;
  readonly content: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly old_text: string;
  readonly new_text: string;
  readonly all: boolean;
  readonly recursive: boolean;
  readonly ignore_case: boolean;
  readonly start_line: number;
  readonly lines: number;
}

const path = { type: "string", minLength: 1, maxLength: 4_096, description: "Path below the root: notes/a.txt" };
const folder = { type: "string", maxLength: 4_096, description: "Directory below the root; omitted: the root" };
const flag = (description: string): JsonObject => ({ type: "boolean", description });

function tool(
  name: string,
  description: string,
  [required, optional]: readonly [JsonObject, JsonObject?],
  run: (tree: FileTree, args: Arguments) => Promise<string>,
): FileTool {
  const parameters: JsonObject = {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
  // The host has validated the arguments.
  return { name, description, parameters, run: async (tree, args) => await run(tree, args as unknown as Arguments) };
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Counts the occurrences that `replaceAll` replaces, without the memory of `split`. */
function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

/** Tools of every episode. */
export const fileTools: readonly FileTool[] = [
  tool(
    "read_file",
    "Returns a text file, or some of its lines.",
    [
      { path },
      {
        start_line: { type: "integer", minimum: 1, description: "First line, from 1" },
        lines: { type: "integer", minimum: 1, description: "Number of lines" },
      },
    ],
    async (tree, { path, start_line, lines }) => readLines(decodeText(await tree.read(path), path), start_line, lines),
  ),
  tool(
    "write_file",
    "Writes a text file. Creates its directories, and replaces an earlier file.",
    [{ path, content: { type: "string" } }],
    async (tree, { path, content }) => {
      const bytes = encodeText(content);
      await tree.write(path, bytes);
      return `Wrote ${count(bytes.length, "byte")} to ${path}.`;
    },
  ),
  tool(
    "list_files",
    "Lists a directory: its directories, and its files with their sizes.",
    [{}, { path: folder, recursive: flag("Also list the content of its directories") }],
    async (tree, { path = "", recursive = false }) => await listFiles(tree, path, recursive),
  ),
  tool(
    "search_files",
    "Returns the lines that contain a text, from all text files of a directory and below.",
    [
      { text: { type: "string", minLength: 1, maxLength: 1_000, description: "Text to find; not a pattern" } },
      { path: folder, ignore_case: flag("Find upper and lower case") },
    ],
    async (tree, { text, path = "", ignore_case = false }) =>
      await searchFiles(tree, { text, path, ignoreCase: ignore_case }),
  ),
  tool(
    "edit_file",
    "Replaces a text in a file. The text must occur exactly once unless all occurrences are replaced.",
    [
      { path, old_text: { type: "string", minLength: 1 }, new_text: { type: "string" } },
      { all: flag("Replace all occurrences") },
    ],
    async (tree, { path, old_text, new_text, all = false }) => {
      const before = decodeText(await tree.read(path), path);
      const found = occurrences(before, old_text);
      if (found === 0) throw new Refused(`${path} does not contain the text. Read the file, and copy the text exactly`);
      if (found > 1 && !all) {
        throw new Refused(`${path} contains the text ${found} times. Add text around it, or replace all occurrences`);
      }
      // A character has at least one byte: a text that is too long is not built.
      tree.requireFileSize(before.length + found * (new_text.length - old_text.length));
      await tree.write(path, encodeText(before.replaceAll(old_text, () => new_text)));
      return `Replaced ${count(found, "occurrence")} in ${path}.`;
    },
  ),
  tool(
    "move_file",
    "Moves or renames a file or a directory. The new path must not exist.",
    [{ from: path, to: path }],
    async (tree, { from, to }) => {
      await tree.move(from, to);
      return `Moved ${from} to ${to}.`;
    },
  ),
  tool(
    "delete_file",
    "Deletes a file, or a directory with all that it contains.",
    [{ path }],
    async (tree, { path }) => {
      const removed = await tree.remove(path);
      return removed === 1 ? `Deleted ${path}.` : `Deleted ${path} and ${removed - 1} files and directories in it.`;
    },
  ),
];

/** Returns a text, or a part of its lines followed by a note that states which. */
function readLines(text: string, start = 1, count = Number.POSITIVE_INFINITY): string {
  if (start === 1 && count === Number.POSITIVE_INFINITY) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (start > lines.length) throw new Refused(`The file has ${lines.length} lines; start_line is ${start}`);
  const end = Math.min(start - 1 + count, lines.length);
  return `${lines.slice(start - 1, end).join("\n")}\n[lines ${start} to ${end} of ${lines.length}]`;
}
