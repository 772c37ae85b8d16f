/** `\begin{...} ... \end{...}`: matrices, determinants, systems of equations and cases. */
import { call, text, type Node } from "../tree/node.ts";
import { ReadError, type Parser } from "./state.ts";

const MATRIX = /^(?:[pbBvV]?(?:small)?matrix|array|tabular)\*?$/;

/** Reads an environment whose `\begin` has been read. */
export function parseEnvironment(p: Parser): Node {
  const { lexer } = p;
  const open = lexer.token.start;
  const nameEnd = lexer.closingBrace(open);
  if (lexer.source[open] !== "{" || nameEnd < 0) return p.fail("an environment without a name");
  const name = lexer.source.slice(open + 1, nameEnd - 1).trim();
  const end = closing(lexer.source, nameEnd);
  if (end < 0) return p.fail(`\\begin{${name}} without its end`);
  p.work.spend((end - open) >> 2);
  let body = lexer.source.slice(nameEnd, end);
  if (/^(?:array|tabular)/.test(name)) body = body.replace(/^\s*\{[^{}]*\}/, "");
  const after = lexer.source.indexOf("}", end) + 1;
  const isSystem = /\\(?:\{|lbrace)\s*$/.test(lexer.source.slice(0, open).replace(/\\begin\s*$/, ""));
  lexer.moveTo(after);
  if (isSystem) {
    lexer.take("command", "}");
    lexer.take("operator", ".");
  }
  const rows = split(body, "\\\\")
    .map((row) => row.replace(/\\hline/g, "").trim())
    .filter((row) => row !== "" && row !== ".");
  if (name === "cases" || name === "dcases" || isSystem) return cases(p, rows);
  if (MATRIX.test(name)) {
    const matrix: Node = {
      kind: "matrix",
      rows: rows.map((row) => split(row, "&").map((cell) => p.readWhole(cell === "" ? "0" : cell, true))),
    };
    return name.startsWith("v") ? call("det", matrix) : matrix;
  }
  return p.readWhole(
    rows
      .map((row, i) => (i > 0 && !/^&?\s*(?:[=<>+-]|\\[lg]eq?(?![a-z])|\\approx)/.test(row) ? `, ${row}` : ` ${row}`))
      .join("")
      .replaceAll("&", " "),
    true,
  );
}

const CONDITION_WORDS = /^\s*\\(?:text|mathrm)\s*\{\s*(?:if|for|when)\s*\}|[,;]\s*$/g;

/** Returns a system of equations, or values with the conditions under which they hold. */
function cases(p: Parser, rows: readonly string[]): Node {
  const cells = rows.map((row) => split(row.replace(/[,;.]\s*$/, ""), "&"));
  if (cells.some(isValueWithCondition)) {
    const args = cells.map((row): Node => {
      const items = row.map((cell) => readCell(p, cell.replace(CONDITION_WORDS, "")));
      return { kind: "tuple", items, open: "round", close: "round" };
    });
    return { kind: "call", name: "cases", args };
  }
  const items = cells.map((row) => p.readWhole(row.join(" "), true));
  return items.length === 1 ? (items[0] as Node) : { kind: "list", items, join: "and" };
}

function isValueWithCondition([value = "", condition]: readonly string[]): boolean {
  return (
    condition !== undefined &&
    !/[<>=]/.test(value) &&
    !/^\s*[=<>]/.test(condition) &&
    /[<>=]|\\|[a-z]{2}/.test(condition)
  );
}

/** Reads a cell; a condition in words stays words. */
function readCell(p: Parser, cell: string): Node {
  try {
    return p.readWhole(cell, true);
  } catch (error) {
    if (error instanceof ReadError) return text(cell.replace(/\\(?:text|mathrm)|[\s{}\\]/g, "").toLowerCase());
    throw error;
  }
}

/** Returns the offset of the `\end` that closes an environment whose content begins at `from`, or -1. */
function closing(source: string, from: number): number {
  const pattern = /\\(begin|end)\s*\{/g;
  pattern.lastIndex = from;
  let level = 1;
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    level += match[1] === "begin" ? 1 : -1;
    if (level === 0) return match.index;
  }
  return -1;
}

/** Splits at a separator outside braces and inner environments. */
function split(source: string, separator: string): string[] {
  const parts: string[] = [];
  let level = 0;
  let start = 0;
  for (let i = 0; i < source.length; i++) {
    if (level === 0 && source.startsWith(separator, i)) {
      parts.push(source.slice(start, i).trim());
      i += separator.length - 1;
      start = i + 1;
      if (separator === "\\\\") {
        const space = /^\s*\[[^\]]{0,12}(?:pt|em|ex|mm|cm)\]/.exec(source.slice(start, start + 20));
        if (space) start += space[0].length;
      }
    } else if (source[i] === "{") level++;
    else if (source[i] === "}") level--;
    else if (source[i] === "\\") {
      if (source.startsWith("\\begin", i)) level++;
      else if (source.startsWith("\\end", i)) level--;
      else if (source[i + 1] === "&" || source[i + 1] === "{" || source[i + 1] === "}" || source[i + 1] === "\\") i++;
    }
  }
  parts.push(source.slice(start).trim());
  return parts;
}
