import { topStatements } from "./statements.ts";

const IMPORT = /from\s+__future__\s+import\s+(?:\(([^)]*)\)|((?:[^;#\n\\]|\\\n)*))/u;

/** Source without its leading imports from `__future__`, each line where it was, and what they name. */
export interface WithoutFuture {
  readonly source: string;
  readonly names: readonly string[];
}

/**
 * Takes the imports from `__future__` out of the beginning of a source, so that they can stand at the top of a program in which something comes before it: no
 * statement but a docstring may precede them.
 */
export function withoutFuture(source: string): WithoutFuture {
  const names: string[] = [];
  let found = source;
  for (const { tokens, lines } of source.includes("__future__") ? (topStatements(source) ?? []) : []) {
    if (tokens.every(({ kind }) => kind === "string")) continue;
    const [first, second] = tokens;
    if (first?.text !== "from" || second?.text !== "__future__") break;
    const { start } = lines[0] as { start: number };
    // `start` holds: what takes the place of an import is as long as it.
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
