import { MrlmError, type Tool, tool, toolError, type ToolResult } from "@mrlm/kit";
import type { Workspace } from "@mrlm/spec";
import { z } from "zod";
import type { EpisodeWorkspace } from "./episode-workspace.ts";

const parameters = z.strictObject({
  action: z.enum(["view", "replace", "insert"]).describe("view lines, replace a text, or insert lines"),
  path: z.string().min(1).describe("File, relative to /workspace or absolute"),
  line: z
    .int()
    .min(0)
    .optional()
    .describe("view: first line (default 1); insert: after this line, 0 for the beginning"),
  lines: z.int().min(1).optional().describe("view: number of lines (default 200)"),
  old_text: z.string().min(1).optional().describe("replace: text that occurs once in the file"),
  new_text: z.string().optional().describe("replace: text in its place; insert: lines to insert"),
});
type Arguments = z.output<typeof parameters>;

const VIEWED_LINES = 200;

/** Returns the tool that shows and changes text files of the workspace. */
export function editTool(episode: EpisodeWorkspace, outputBytes: number): Omit<Tool, "name"> {
  return tool({
    description: [
      "Shows or changes a text file. `view` shows lines with their numbers.",
      "`replace` replaces `old_text`, which must occur exactly once, by `new_text`.",
      "`insert` inserts `new_text` after a line; with line 0 it also creates a file that does not exist.",
    ].join(" "),
    parameters,
    outputBytes: outputBytes + 4096,
    execute: (args, options): Promise<string | ToolResult> =>
      episode.use(options, (workspace) => edit(workspace, args)),
  });
}

async function edit(workspace: Workspace, args: Arguments): Promise<string | ToolResult> {
  const { action, path, line } = args;
  const bytes = await workspace.readFile(path);
  if (bytes === undefined && !(action === "insert" && (line ?? 0) === 0))
    return toolError(`There is no file ${path} that can be read.`);
  const text = textOf(bytes ?? new Uint8Array());
  if (text === undefined) return toolError(`${path} is not a text file in UTF-8.`);
  if (action === "view") return view(text, args);
  const changed = action === "replace" ? replace(text, args) : insert(text, args);
  if (typeof changed !== "string") return changed;
  try {
    await workspace.writeFile(path, changed);
  } catch (error) {
    // The path is the policy's, and so is the disk that it filled.
    if (!MrlmError.hasCode(error, "DATA_INVALID")) throw error;
    return toolError(error.message);
  }
  return action === "replace" ? `Replaced in ${path}.` : `Inserted in ${path}.`;
}

function view(text: string, { line = 1, lines = VIEWED_LINES }: Arguments): string | ToolResult {
  const all = linesOf(text);
  const first = Math.max(1, line);
  if (all.length === 0) return "(empty file)";
  if (first > all.length) return toolError(`The file has ${all.length} lines.`);
  const shown = all.slice(first - 1, first - 1 + lines);
  const rest = all.length - (first - 1 + shown.length);
  const numbered = shown.map((each, at) => `${String(first + at).padStart(6)}\t${each}`);
  return [...numbered, ...(rest > 0 ? [`[${rest} more lines]`] : [])].join("\n");
}

function replace(text: string, { old_text: before, new_text: after = "" }: Arguments): string | ToolResult {
  if (before === undefined) return toolError("`replace` needs `old_text`.");
  const parts = text.split(before);
  if (parts.length === 2) return parts.join(after);
  if (parts.length === 1) return toolError("`old_text` does not occur in the file.");
  const at = parts.slice(0, -1).map(
    (_, index) =>
      parts
        .slice(0, index + 1)
        .join(before)
        .split("\n").length,
  );
  return toolError(
    `\`old_text\` occurs ${parts.length - 1} times, at the lines ${at.slice(0, 10).join(", ")}: add text around it.`,
  );
}

function insert(text: string, { line = 0, new_text: added }: Arguments): string | ToolResult {
  if (added === undefined) return toolError("`insert` needs `new_text`.");
  const all = text.split(/(?<=\n)/);
  if (line > linesOf(text).length) return toolError(`The file has ${linesOf(text).length} lines.`);
  const before = all.slice(0, line).join("");
  const ended = (part: string): string => (part === "" || part.endsWith("\n") ? part : `${part}\n`);
  return ended(before) + ended(added) + all.slice(line).join("");
}

/** Returns the lines without their ends. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
