/** Fenced block of Markdown. */
export interface Fence {
  /** First word of the info string in lower case: `python`; empty if there is none. */
  readonly language: string;
  readonly content: string;
  /** Columns of indentation. 4 or more: a block in a list, or in a string of code outside of blocks. */
  readonly indent: number;
}

/**
 * Returns the fenced blocks of a text in order (CommonMark 4.5), at any indentation, which is removed from their content. A block without a closing fence
 * ends with the text.
 */
export function fences(text: string): Fence[] {
  const found: Fence[] = [];
  let open:
    | { readonly mark: string; readonly language: string; readonly indent: number; readonly lines: string[] }
    | undefined;
  for (const line of text.split("\n")) {
    const bare = line.replace(/\r$/, "");
    if (open === undefined) open = opening(bare);
    else if (closes(bare, open)) {
      found.push({ language: open.language, content: open.lines.join("\n"), indent: open.indent });
      open = undefined;
    } else open.lines.push(outdented(bare, open.indent));
  }
  // A closing mark after the last line of code closes no block and is not code.
  if (open === undefined) return found;
  const { mark, language, indent } = open;
  const content = open.lines.join("\n").trimEnd();
  return [...found, { language, content: content.endsWith(mark) ? content.slice(0, -mark.length) : content, indent }];
}

function opening(line: string): { mark: string; language: string; indent: number; lines: string[] } | undefined {
  const [all, space, mark] = /^([ \t]*)(`{3,}|~{3,})/.exec(line) ?? [];
  if (all === undefined || mark === undefined || space === undefined) return undefined;
  const info = line.slice(all.length);
  // Code between marks on one line is a span, not a block.
  if (info.includes("`")) return undefined;
  // Also `{.python}`, `python:file.py` and `python, linenos`.
  const language = /^[\s{.]*([^\s{}:,]*)/.exec(info)?.[1] ?? "";
  return { mark, language: language.toLowerCase(), indent: columns(space), lines: [] };
}

/** Returns true for a closing fence: the same character, at least the same length, and no text after it. */
function closes(line: string, { mark, indent }: { readonly mark: string; readonly indent: number }): boolean {
  const bare = line.trim();
  const space = /^[ \t]*/.exec(line)?.[0] ?? "";
  return (
    bare.length >= mark.length && columns(space) <= indent + 3 && [...bare].every((character) => character === mark[0])
  );
}

/** Removes the indentation of the fence from a line. */
function outdented(line: string, indent: number): string {
  let at = 0;
  for (let left = indent; left > 0 && (line[at] === " " || line[at] === "\t"); at++)
    left -= columns(line[at] as string);
  return line.slice(at);
}

function columns(space: string): number {
  return [...space].reduce((sum, character) => sum + (character === "\t" ? 4 : 1), 0);
}
