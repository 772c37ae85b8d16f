/** Parsing of the text of one answer into an expression tree. */
import { number, text, type Node } from "../tree/node.ts";
import { WorkExhausted, type Work } from "../work.ts";
import { clean } from "./clean.ts";
import { AnswerParser } from "./parser.ts";
import { readSetWords } from "./set-words.ts";
import { ReadError } from "./state.ts";
import { ordinalWord, readNumberWords, readPartWords } from "./number-words.ts";
import { table } from "../table.ts";

/** Result of parsing. `error` is the reason why text that resembles mathematics was kept as words. */
export type Reading = { readonly node: Node; readonly error?: string };

/** Characters of one answer that are read as mathematics. Longer ones are compared as text. */
export const LONGEST_ANSWER = 4000;

/** Reads an answer without its delimiters. `isMath`: it stood between mathematics delimiters. */
export function read(source: string, isMath: boolean, work: Work): Reading {
  const trimmed = source.trim();
  if (trimmed.length > LONGEST_ANSWER)
    return { node: text(trimmed), error: `longer than ${LONGEST_ANSWER} characters` };
  const cleaned = withoutNumbering(withoutEnding(closed(clean(trimmed))));
  if (cleaned === "") return { node: text(trimmed) };
  const spelled = isMath ? markConnectives(cleaned) : spellOut(joinLines(cleaned));
  const isWritten = trimmed.includes("\\") || isMath || !hasWords(trimmed);
  const isFormula = (spelled.includes("\\") && isWritten) || (isMath && !hasWords(spelled));
  const marked = isFormula && !isMath ? markConnectives(spelled) : spelled;
  const words = isFormula ? undefined : readWords(cleaned, work);
  if (words) return { node: words };
  try {
    const parser = new AnswerParser(isFormula ? markFunctions(marked) : marked, isFormula, work);
    const node = parser.list();
    // "prime n" describes the variable; it is not the answer.
    const core = node.kind === "call" && node.name === "where" ? node.args[0] : node;
    const isDescribed = parser.droppedWords > 0 || core !== node;
    if (isDescribed && core?.kind === "symbol" && !/^[A-J]$/.test(core.name)) return { node: text(trimmed) };
    if (parser.lexer.is("end")) return { node };
    return {
      node: text(trimmed),
      error: `unexpected '${parser.lexer.source.slice(parser.lexer.token.start, parser.lexer.token.start + 20)}'`,
    };
  } catch (error) {
    if (error instanceof ReadError || error instanceof WorkExhausted)
      return { node: text(trimmed), error: error.message };
    throw error;
  }
}

/** Joins equations on separate lines to a list. */
function joinLines(source: string): string {
  if (!source.includes("\n")) return source;
  const lines = source.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || !lines.every((line) => line.includes("="))) return source;
  return lines.map((line) => line.trim().replace(/,$/, "")).join(", ");
}

const PARTS: Readonly<Record<string, number>> = table({ half: 2, third: 3, quarter: 4, fourth: 4, fifth: 5 });

/** Replaces arithmetic in words between values by symbols: `5 plus 3`, `x squared`. */
function spellOut(source: string): string {
  const share = /^(-?[\d.,/]+) (to|out of|in) ([\d.,/]+)$/.exec(source);
  if (share) return share[2] === "to" ? `${share[1]}:${share[3]}` : `(${share[1]})/(${share[3]})`;
  const mixed = /^(-?\d+) and (?:an?|one) (half|third|quarter|fourth|fifth)\b/.exec(source);
  if (mixed) return source.replace(mixed[0], `${mixed[1]} 1/${PARTS[mixed[2] as string]}`);
  if (!/\b(?:plus|minus|times|divided|squared|cubed)\b/.test(source)) return source;
  return source
    .replace(/(?<=[\w)])\s+(?:plus|minus|times|divided by)\s+(?=[\w(])/g, (word) => WORDS[word.trim()] as string)
    .replace(/(?<=[\w)])\s+squared\b/g, "^2")
    .replace(/(?<=[\w)])\s+cubed\b/g, "^3");
}

const WORDS: Readonly<Record<string, string>> = table({ plus: "+", minus: "-", times: "*", "divided by": "/" });

/** Reads plain text that is words, or a fraction in words; undefined when it may be mathematics. */
function readWords(source: string, work: Work): Node | undefined {
  const part = readPartWords(source);
  if (part) return number(part);
  const set = readSetWords(source, (value) => {
    const { node, error } = read(value, false, work);
    return error === undefined && node.kind !== "text" ? node : undefined;
  });
  if (set) return set;
  if (readNumberWords(source, 0)) return undefined;
  const isWords =
    /^[a-zA-Z][a-zA-Z' -]*$/.test(source) &&
    source.length > 3 &&
    !/^(?:sqrt|pi|ln|log|sin|cos|tan|exp|inf|abs)\b/.test(source) &&
    ordinalWord(source) === undefined &&
    !/\b(?:minus|negative|plus|times|squared|cubed)\b/.test(source) &&
    !/^[A-J](?:\s*(?:,|and|or)\s*[A-J])+$/.test(source);
  return isWords ? text(source) : undefined;
}

/** Adds the closing braces that a truncated answer lacks. */
function closed(source: string): string {
  let level = 0;
  for (let i = 0; i < source.length; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === "{") level++;
    else if (source[i] === "}") level--;
  }
  return level > 0 && level <= 3 && source.includes("\\") ? source + "}".repeat(level) : source;
}

/** Removes the punctuation that ends a sentence. Keeps a factorial and an ellipsis of digits. */
function withoutEnding(source: string): string {
  if (/\d\.\.\.$/.test(source)) return source;
  // One pattern would take cubic time, because its two gaps match the same characters.
  const last = backOver(/[\s.,;:?]/, source, source.length);
  const begin = backOver(/[\s.,;:!?]/, source, source.endsWith("\\\\", last) ? last - 2 : source.length);
  return source.slice(0, begin) + (/^!*/.exec(source.slice(begin))?.[0] ?? "");
}

/** Returns the start of the characters of a kind before `end`. */
function backOver(kind: RegExp, source: string, end: number): number {
  let begin = end;
  while (begin > 0 && kind.test(source[begin - 1] as string)) begin--;
  return begin;
}

/** Removes the numbers from a numbered list: `1) 5; 2) 7`. */
function withoutNumbering(source: string): string {
  if (!/^\(?[1a]\)\s*\S.*[;,]\s*\(?[2b]\)/s.test(source)) return source;
  return source.replace(/(^|[;,]\s*)\(?[1-9a-f]\)\s*/g, "$1");
}

/** Whether plain words are inside mathematics delimiters, as in `\boxed{no solution}` or `\boxed{5 cm}`. */
function hasWords(source: string): boolean {
  if (source.includes("\\")) return false;
  return (
    /[a-z]{4}|[A-Z][a-z]{3}/.test(
      source.replace(/(?:sqrt|arc)?(?:sin|cos|tan|log|exp|sqrt|theta|alpha|beta|infty)/g, ""),
    ) || /\d\s*(?:cm|mm|km|kg|mg|ml|mL|ft|in|lb|hr|min|sec|mph|rad|deg)$/.test(source)
  );
}

/** Marks the names of functions that a formula has without a backslash: `sqrt(3)/2`, `2pi`. */
function markFunctions(source: string): string {
  if (!/sqrt|pi|log|ln|exp|sin|cos|tan|cot|sec|csc/.test(source)) return source;
  return source.replace(
    /\\(?:text|mathrm|operatorname|textbf|textrm|mbox|mathbf|begin|end)\*?\s*\{[^{}]*\}|(?<![\\a-zA-Z])(?:sqrt|pi|log|ln|exp|(?:arc)?(?:sin|cos|tan)|cot|sec|csc)(?![a-zA-Z])/g,
    (name) => (name.startsWith("\\") ? name : `\\${name} `),
  );
}

/** Marks a bare "or" or "and" between formulas. */
function markConnectives(source: string): string {
  return source.replace(/(?<=[\d)}\]]\s*)(?<!\{\s*)(or|and)(?=[\s\d({\\[-])/g, (word) => `\\text{ ${word} }`);
}
