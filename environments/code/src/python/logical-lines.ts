import type { LogicalLine, Token } from "./token.ts";

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /(?:\d|\.\d)[\w.]*/y;
const OPERATOR = /:=|[-+*/%&|^<>=!@]=|\/\/=|\*\*=|>>=|<<=|->|[^\s\w]/uy;

/**
 * Returns the logical lines of Python source, without blank lines and comments. Returns `undefined` for invalid Python: a string or bracket without its end, or
 * an end without its beginning.
 */
export function logicalLines(source: string): LogicalLine[] | undefined {
  const lines: LogicalLine[] = [];
  let [at, start, depth] = [0, 0, 0];
  let tokens: Token[] = [];
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const endLine = (): void => {
    if (tokens.length > 0)
      lines.push({ start, end: at, indent: /^[ \t\f]*/.exec(source.slice(start, at))?.[0] ?? "", tokens });
    [start, tokens] = [at, []];
  };
  while (at < source.length) {
    const character = source[at] as string;
    if (character === "\n") {
      at++;
      if (depth === 0) endLine();
    } else if (character === "\\" && /^\\\r?\n/.test(source.slice(at, at + 3))) at = source.indexOf("\n", at) + 1;
    else if (/\s/.test(character)) at++;
    else if (character === "#") at = lineEnd(source, at);
    else {
      const end = stringEnd(source, at);
      if (end === "unclosed") return undefined;
      const text =
        end === undefined ? (match(NAME) ?? match(NUMBER) ?? match(OPERATOR) ?? character) : source.slice(at, end);
      if (")]}".includes(text)) depth--;
      if (depth < 0) return undefined;
      if (end !== undefined) tokens.push({ kind: "string", text, depth });
      else if (/^[\p{L}_]/u.test(text)) tokens.push({ kind: "name", text, depth });
      else if (!/^[\d.]\d|^\d/.test(text)) tokens.push({ kind: "operator", text, depth });
      else tokens.push({ kind: "operator", text: "0", depth });
      if ("([{".includes(text)) depth++;
      at += text.length;
    }
  }
  if (depth > 0) return undefined;
  endLine();
  return lines;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end < 0 ? source.length : end;
}

const OPENING = /([A-Za-z]{0,2})("""|'''|"|')/y;
const PREFIXES = new Set(["", "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"]);

/**
 * Returns the offset after the string literal that begins at an offset; `undefined` if none begins there. Fields of f-strings may contain
 * strings with the same quotes (PEP 701, Python 3.12).
 */
function stringEnd(source: string, start: number): number | "unclosed" | undefined {
  OPENING.lastIndex = start;
  const opening = OPENING.exec(source);
  if (opening === null || !PREFIXES.has((opening[1] as string).toLowerCase())) return undefined;
  const [all, prefix, quote] = opening as unknown as [string, string, string];
  const isFormatted = /[ft]/i.test(prefix);
  for (let at = start + all.length; at < source.length;) {
    const character = source[at] as string;
    if (source.startsWith(quote, at)) return at + quote.length;
    if (character === "\\") at += 2;
    else if (character === "\n" && quote.length === 1) return "unclosed";
    else if (isFormatted && source.startsWith("{{", at)) at += 2;
    else if (isFormatted && character === "{") {
      const end = fieldEnd(source, at + 1);
      if (end === undefined) return "unclosed";
      at = end;
    } else at++;
  }
  return "unclosed";
}

/** Returns the offset after the `}` that closes a field. */
function fieldEnd(source: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < source.length;) {
    const end = stringEnd(source, at);
    if (end === "unclosed") return undefined;
    if (end !== undefined) {
      at = end;
      continue;
    }
    const character = source[at++] as string;
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character) && --depth === 0) return at;
  }
  return undefined;
}
