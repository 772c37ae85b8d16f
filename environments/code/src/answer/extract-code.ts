import type { Language } from "../problem/problem.ts";
import { fences } from "./fences.ts";

const NAMES: Readonly<Record<Language, readonly string[]>> = {
  python: ["python", "py", "python3", "py3"],
  typescript: ["typescript", "ts", "javascript", "js", "mts", "mjs"],
};

/**
 * The code in what was said: the last fenced block of the language, else the last fenced block, else all of it. Blocks that define
 * what is asked for go before others: examples of use often follow. Reasoning in `<think>` is left out.
 * @param isWanted whether a block defines what is asked for
 */
export function extractCode(said: string, language: Language, isWanted: (code: string) => boolean): string {
  const text = withoutThinking(said);
  const blocks = fences(text);
  const own = blocks.filter((block) => NAMES[language].includes(block.language));
  const candidates = own.length > 0 ? own : blocks;
  const chosen = candidates.findLast(({ content }) => isWanted(content)) ?? candidates.at(-1);
  // White space before the first line is part of the code: a body alone is indented.
  return (chosen?.content ?? text).replaceAll("\r\n", "\n").replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

/** What follows the reasoning; nothing where it never ended. */
function withoutThinking(said: string): string {
  const end = said.lastIndexOf("</think>");
  if (end >= 0) return said.slice(end + "</think>".length);
  return /^\s*<think>/.test(said) ? "" : said;
}
