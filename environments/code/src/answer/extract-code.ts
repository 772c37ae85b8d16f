import type { Language } from "../problem/problem.ts";
import { type Fence, fences } from "./fences.ts";
import { withoutProse } from "./without-prose.ts";

const NAMES: Readonly<Record<Language, readonly string[]>> = {
  python: ["python", "py", "python3", "py3"],
  typescript: ["typescript", "ts", "javascript", "js", "mts", "mjs", "cts", "cjs", "tsx", "jsx", "node"],
};
/** What only stands around other blocks. */
const WRAPPERS = ["markdown", "md", ""];
/** Deeper blocks may be part of a string in code that stands in no block. */
const DEEPEST = 3;

/**
 * The code in what was said: the last fenced block of the language, else the last fenced block, else all of it. Blocks that define
 * what is asked for go before others: examples of use often follow. Reasoning in `<think>` is left out.
 * @param isWanted whether a block defines what is asked for; left out where anything may
 */
export function extractCode(said: string, language: Language, isWanted?: (code: string) => boolean): string {
  // A byte order mark is no part of a program.
  const text = withoutThinking(said)
    .replaceAll("\r\n", "\n")
    .replaceAll(/^\ufeff/gm, "");
  const chosen = chosenBlock(text, language, isWanted);
  const code = chosen ?? (isWanted?.(text) === true ? withoutProse(text, language) : text);
  // White space before the first line is part of the code: a body alone is indented.
  return code.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

/** `undefined` where the text itself is the code. */
function chosenBlock(
  text: string,
  language: Language,
  isWanted: ((code: string) => boolean) | undefined,
): string | undefined {
  const blocks = unwrapped(fences(text));
  const own = blocks.filter((block) => NAMES[language].includes(block.language));
  const candidates = own.length > 0 ? own : blocks;
  const wanted = isWanted && candidates.findLast(({ content }) => isWanted(content));
  if (wanted !== undefined) return wanted.content;
  const isCode = isWanted?.(text) === true && blocks.every(({ indent }) => indent > DEEPEST);
  return isCode ? undefined : candidates.at(-1)?.content;
}

/** Blocks in blocks of Markdown stand for themselves. */
function unwrapped(blocks: readonly Fence[]): Fence[] {
  return blocks.flatMap((block) => {
    const inner = WRAPPERS.includes(block.language) ? fences(block.content) : [];
    return inner.length > 0 ? inner : [block];
  });
}

/** What follows the reasoning; nothing where it never ended. */
function withoutThinking(said: string): string {
  const end = said.lastIndexOf("</think>");
  if (end >= 0) return said.slice(end + "</think>".length);
  return /^\s*<think>/.test(said) ? "" : said;
}
