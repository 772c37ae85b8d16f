/** A fenced block of Markdown. */
export interface Fence {
  /** First word of its info string, in lower case: `python`; empty where there is none. */
  readonly language: string;
  readonly content: string;
}

const OPENING = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/;

/** The fenced blocks of a text, in order (CommonMark 4.5). One that is never closed goes to the end of the text. */
export function fences(text: string): Fence[] {
  const found: Fence[] = [];
  let open: { readonly mark: string; readonly language: string; readonly lines: string[] } | undefined;
  for (const line of text.split("\n")) {
    const bare = line.replace(/\r$/, "");
    if (open === undefined) {
      const [, mark, language] = OPENING.exec(bare) ?? [];
      if (mark !== undefined) open = { mark, language: (language as string).toLowerCase(), lines: [] };
    } else if (closes(bare, open.mark)) {
      found.push({ language: open.language, content: open.lines.join("\n") });
      open = undefined;
    } else open.lines.push(bare);
  }
  if (open !== undefined) found.push({ language: open.language, content: open.lines.join("\n") });
  return found;
}

/** A closing fence has the same character, is as long at least, and has nothing behind it. */
function closes(line: string, mark: string): boolean {
  const bare = line.trim();
  return bare.length >= mark.length && /^ {0,3}\S/.test(line) && [...bare].every((character) => character === mark[0]);
}
