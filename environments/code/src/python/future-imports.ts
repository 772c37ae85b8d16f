import { topStatements } from "./statements.ts";

const IMPORT = /from\s+__future__\s+import\s+(?:\(([^)]*)\)|((?:[^;#\n\\]|\\\n)*))/u;

/** Source without its leading imports from `__future__`, with the same line numbers, and the imported names. */
export interface WithoutFuture {
  readonly source: string;
  readonly names: readonly string[];
}

/**
 * Removes the imports from `__future__` at the beginning of a source. They can then be placed at the top of a program with other code before this source: only a
 * docstring may precede them.
 */
export function withoutFuture(source: string): WithoutFuture {
  const names: string[] = [];
  let found = source;
  for (const { tokens, lines } of source.includes("__future__") ? (topStatements(source) ?? []) : []) {
    if (tokens.every(({ kind }) => kind === "string")) continue;
    const [first, second] = tokens;
    if (first?.text !== "from" || second?.text !== "__future__") break;
    const { start } = lines[0] as { start: number };
    // `start` stays valid, because the replacement of an import has its length.
    found =
      found.slice(0, start) +
      found.slice(start).replace(IMPORT, (text, inBrackets?: string, bare?: string) => {
        names.push(...namesIn(inBrackets ?? bare ?? ""));
        return `pass${text.slice("pass".length).replaceAll(/[^\n]/g, " ")}`;
      });
  }
  return { source: found, names };
}

function namesIn(list: string): string[] {
  return list
    .replaceAll(/#[^\n]*|\\\n/g, " ")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}
