import type { Language } from "../problem/problem.ts";
import { type Fence, fences } from "./fences.ts";

const NAMES: Readonly<Record<Language, readonly string[]>> = {
  python: ["python", "py", "python3", "py3"],
  typescript: ["typescript", "ts", "javascript", "js", "mts", "mjs", "cts", "cjs", "tsx", "jsx", "node"],
};
/** Languages of blocks that only enclose other blocks. */
const WRAPPERS = ["markdown", "md", ""];
/** Maximal indentation: deeper blocks may be part of a string in code outside of blocks. */
const DEEPEST = 3;

/**
 * Returns the code of a response: the last fenced block of the language, else the last fenced block, else the whole text. Blocks that define the requested
 * function have priority, because examples of its use often follow. Reasoning in `<think>` is ignored.
 * @param isWanted whether a block defines the requested function; omitted if every block may
 */
export function extractCode(response: string, language: Language, isWanted?: (code: string) => boolean): string {
  // A byte order mark is no part of a program.
  const text = withoutThinking(response)
    .replaceAll("\r\n", "\n")
    .replaceAll(/^\ufeff/gm, "");
  const chosen = chosenBlock(text, language, isWanted);
  const code = chosen ?? (isWanted?.(text) === true ? withoutProse(text, language) : text);
  // White space before the first line is part of the code: a body alone is indented.
  return code.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

/** Returns the block with the code; `undefined` if the text itself is the code. */
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

/** Replaces blocks of Markdown by the blocks in them. */
function unwrapped(blocks: readonly Fence[]): Fence[] {
  return blocks.flatMap((block) => {
    const inner = WRAPPERS.includes(block.language) ? fences(block.content) : [];
    return inner.length > 0 ? inner : [block];
  });
}

/** Returns the text after the reasoning; empty if the reasoning has no end. */
function withoutThinking(response: string): string {
  const end = response.lastIndexOf("</think>");
  if (end >= 0) return response.slice(end + "</think>".length);
  return /^\s*<think>/.test(response) ? "" : response;
}

/** Beginning of a line of code at the margin. Sentences begin with a word and a space. */
const CODE: Readonly<Record<Language, RegExp>> = {
  python:
    /^(?:(?:import|from|def|class|async|with|for|while|if|try|assert|return) .*[\w:)\]}'"]$|@|[\])}]|(?:try|else|finally|except.*):|[\p{L}_][\p{L}\p{N}_.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^]|\/\/|\*\*)?=|[ \t]*:[^=\n]+=))/u,
  typescript:
    /^(?:(?:import|export|function|async|const|let|var|class|abstract|interface|type|enum|declare|namespace|if|for|while|switch|try|return|throw)\b.*[\w;:{}()[\],'"`>]$|[\])}]|\/\/|\/\*|[ ]\*|[\p{L}_$][\p{L}\p{N}_$.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^?]{0,2})=))/u,
};

/** Removes sentences before and after code that is not in a block. */
function withoutProse(text: string, language: Language): string {
  const lines = text.split("\n");
  const isCode = (line: string): boolean => CODE[language].test(line.trimEnd());
  const first = lines.findIndex(isCode);
  // Indented lines belong to the line of code above them.
  const last = lines.findLastIndex(
    (line, i) => i >= first && (isCode(line) || (/^[ \t]/.test(line) && line.trim() !== "")),
  );
  return first < 0 ? text : lines.slice(first, last + 1).join("\n");
}
