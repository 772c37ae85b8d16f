import type { FunctionProblem } from "../problem/problem.ts";
import { withoutFuture } from "../python/future-imports.ts";

/** Code to run, and by how many lines it stands below the code that was said. */
export interface SolutionCode {
  readonly code: string;
  readonly offset: number;
}

/** Whether code defines the function itself, rather than being its body. */
export function definesFunction(
  code: string,
  { language, entryPoint }: Pick<FunctionProblem, "language" | "entryPoint">,
): boolean {
  const name = entryPoint.replaceAll("$", "\\$");
  const pattern =
    language === "python"
      ? `^(?:(?:async[ \\t]+)?def[ \\t]+${name}\\b|${name}[ \\t]*(?::[^=\\n]+)?=(?!=)|from[ \\t].*\\b${name}[ \\t]*$)`
      : `^(?:export[ \\t]+)?(?:default[ \\t]+)?(?:(?:async[ \\t]+)?function\\b[ \\t*]*${name}\\b|(?:const|let|var)[ \\t]+${name}\\b)`;
  return new RegExp(pattern, "m").test(code);
}

/** The whole program of an answer: a whole function behind the problem's imports and helpers, or a body behind the function's head. */
export function solutionCode(answered: string, problem: FunctionProblem): SolutionCode {
  const said = answered.replace(/^\ufeff/, "");
  const { preamble, head, tail } = problem.stub;
  const { line, before, answer } =
    problem.language === "python" ? futureFirst(preamble, said) : { line: "", before: preamble, answer: said };
  if (definesFunction(said, problem)) return { code: line + before + answer, offset: lineBreaks(line + before) };
  const body = problem.language === "python" ? indented(answer) : unclosed(answer);
  const start =
    line + before + (problem.language === "python" ? aligned(head, body) : head) + (head.endsWith("\n") ? "" : "\n");
  return { code: `${start}${body}\n${tail}`, offset: lineBreaks(start) };
}

/** An answer's imports from `__future__` on a line of their own, which comes before everything; that of a preamble with them. */
function futureFirst(
  preamble: string,
  said: string,
): { readonly line: string; readonly before: string; readonly answer: string } {
  const answer = withoutFuture(said);
  if (answer.names.length === 0) return { line: "", before: preamble, answer: said };
  const before = withoutFuture(preamble);
  return {
    line: `from __future__ import ${[...before.names, ...answer.names].join(", ")}\n`,
    before: before.source,
    answer: answer.source,
  };
}

/** A body of Python at a function's level, also where it was said from the margin, or lost the white space before its first line. */
function indented(body: string): string {
  if (/^[ \t]/.test(body)) return body;
  const [first, ...rest] = body.split("\n") as [string, ...string[]];
  const isTrimmed =
    !first.trimEnd().endsWith(":") &&
    rest.some((line) => line.trim() !== "") &&
    rest.every((line) => line.trim() === "" || /^[ \t]/.test(line));
  const isTrimmedBlock =
    first.trimEnd().endsWith(":") &&
    rest.every((line) => line.trim() === "" || /^(?: {4}|\t)/.test(line)) &&
    /^ {8}|^\t\t/.test(rest.find((line) => line.trim() !== "") ?? "");
  if (isTrimmed || isTrimmedBlock) return `    ${body}`;
  return body
    .split("\n")
    .map((line) => (line.trim() === "" ? line : `    ${line}`))
    .join("\n");
}

/** A head whose docstring stands at the level of the body: of a function both have one level, and a body may have two spaces or a tab. */
function aligned(head: string, body: string): string {
  const [, level] = /^([ \t]+)[^\s#]/m.exec(body) ?? [];
  return level === undefined ? head : head.replace(/^[ \t]+(?=[rRuU]?["'])/m, level);
}

/** A body in braces without the brace that closes the function, which is ours to write. */
function unclosed(body: string): string {
  const count = (brace: string): number => body.split(brace).length - 1;
  return body.trimEnd().endsWith("}") && count("}") === count("{") + 1 ? body.trimEnd().slice(0, -1) : body;
}

function lineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
