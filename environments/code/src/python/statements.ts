import { logicalLines } from "./logical-lines.ts";
import type { LogicalLine, Token } from "./token.ts";

/** Statement of a block with the indented lines below it. Statements on one line, separated by semicolons, are one. */
export interface Statement {
  readonly lines: readonly LogicalLine[];
  /** Source without indentation. Continuation lines are unchanged, because white space in strings has a meaning. */
  readonly code: string;
  /** Tokens of all lines, in order. */
  readonly tokens: readonly Token[];
}

const CONTINUATIONS = new Set(["elif", "else", "except", "finally"]);

/** Returns the statements of a source; `undefined` for invalid Python. */
export function topStatements(source: string): Statement[] | undefined {
  const lines = logicalLines(source);
  return lines && groupStatements(source, lines);
}

/**
 * Returns the statements of the body of a function; `undefined` if there is no such function at the top level, or if its body is on the line of
 * its header.
 */
export function bodyStatements(source: string, functionName: string): Statement[] | undefined {
  const definition = topStatements(source)?.findLast((statement) => isDefinition(statement, functionName));
  if (definition === undefined) return undefined;
  const header = definition.lines.findIndex(({ tokens }) => tokens.some(({ text }) => text === "def"));
  const body = definition.lines.slice(header + 1);
  return body.length === 0 ? undefined : groupStatements(source, body);
}

/** Returns true if a statement defines a function of this name. */
export function isDefinition({ tokens }: Statement, name: string): boolean {
  return tokens.some(
    ({ text }, i) =>
      text === "def" &&
      tokens[i + 1]?.text === name &&
      tokens.slice(0, i).every((token) => token.depth > 0 || (token.text !== "def" && token.text !== ":")),
  );
}

/** Groups lines by the statement of the outermost block to which they belong. */
function groupStatements(source: string, lines: readonly LogicalLine[]): Statement[] {
  const margin = lines[0]?.indent ?? "";
  const groups: LogicalLine[][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    const afterDecorator = last?.at(-1)?.indent === margin && last.at(-1)?.tokens[0]?.text === "@";
    const continues = line.indent !== margin || CONTINUATIONS.has(line.tokens[0]?.text ?? "") || afterDecorator;
    if (last !== undefined && continues) last.push(line);
    else groups.push([line]);
  }
  return groups.map((group) => ({
    lines: group,
    code: group.map(({ start, end }) => source.slice(start + margin.length, end).trimEnd()).join("\n"),
    tokens: group.flatMap(({ tokens }) => tokens),
  }));
}
