import { logicalLines } from "./logical-lines.ts";
import type { LogicalLine, Token } from "./token.ts";

/** One statement of a block, with everything indented below it; several with semicolons between them are one. */
export interface Statement {
  readonly lines: readonly LogicalLine[];
  /** Its source, moved to the left margin. Continuation lines stay as they are: within strings their white space has a meaning. */
  readonly code: string;
  /** Those of all lines, in order. */
  readonly tokens: readonly Token[];
}

const CONTINUATIONS = new Set(["elif", "else", "except", "finally"]);

/** The statements of a whole source; `undefined` where it is no Python. */
export function topStatements(source: string): Statement[] | undefined {
  const lines = logicalLines(source);
  return lines && groupStatements(source, lines);
}

/**
 * The statements of a function's body; `undefined` where there is no such function at the top level, or its body stands on the line of
 * its header.
 */
export function bodyStatements(source: string, functionName: string): Statement[] | undefined {
  const definition = topStatements(source)?.findLast((statement) => isDefinition(statement, functionName));
  if (definition === undefined) return undefined;
  const header = definition.lines.findIndex(({ tokens }) => tokens.some(({ text }) => text === "def"));
  const body = definition.lines.slice(header + 1);
  return body.length === 0 ? undefined : groupStatements(source, body);
}

/** Whether it defines a function of that name. */
export function isDefinition({ tokens }: Statement, name: string): boolean {
  return tokens.some(
    ({ text }, i) =>
      text === "def" &&
      tokens[i + 1]?.text === name &&
      tokens.slice(0, i).every((token) => token.depth > 0 || (token.text !== "def" && token.text !== ":")),
  );
}

/** Lines by the statement of the outermost block that they belong to. */
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
