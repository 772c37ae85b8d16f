import { stringEnd } from "./string-literal.ts";
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
