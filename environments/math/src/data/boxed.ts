/** Last `\boxed{...}` or `\fbox{...}` of a LaTeX text. */
export interface Box {
  readonly content: string;
  /** The text with the content of the box in its place. */
  readonly unboxed: string;
}

/** Finds the last box; its braces may nest. Returns `undefined` without a box, or for one that is not closed. */
export function lastBox(text: string): Box | undefined {
  const opened = [...text.matchAll(/\\(?:boxed|fbox)\s*\{/g)].at(-1);
  if (opened === undefined) return undefined;
  const start = opened.index + opened[0].length;
  let depth = 1;
  let end = start;
  for (; end < text.length && depth > 0; end++) {
    const character = text[end];
    if (character === "\\") end++;
    else if (character === "{") depth++;
    else if (character === "}") depth--;
  }
  if (depth > 0) return undefined;
  const content = text.slice(start, end - 1).trim();
  return { content, unboxed: text.slice(0, opened.index) + content + text.slice(end) };
}
