import type { FunctionProblem } from "../problem/problem.ts";
import { withoutFuture } from "../python/future-imports.ts";

/** Code to run, with the number of lines before the code of the response. */
export interface SolutionCode {
  readonly code: string;
  readonly offset: number;
}

/** Returns true if code defines the function, false if code may be its body. */
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

/** Returns the whole program of an answer: a function after the imports and helpers of the problem, or a body after the head of the function. */
export function solutionCode(answered: string, problem: FunctionProblem): SolutionCode {
  const response = answered.replace(/^\ufeff/, "");
  const { preamble, head, tail } = problem.stub;
  const { line, before, answer } =
    problem.language === "python" ? futureFirst(preamble, response) : { line: "", before: preamble, answer: response };
  if (definesFunction(response, problem)) return { code: line + before + answer, offset: lineBreaks(line + before) };
  const body = problem.language === "python" ? indented(answer) : unclosed(answer);
  const start =
    line + before + (problem.language === "python" ? aligned(head, body) : head) + (head.endsWith("\n") ? "" : "\n");
  return { code: `${start}${body}\n${tail}`, offset: lineBreaks(start) };
}

/** Moves the imports from `__future__` of an answer and of the preamble to one line before everything else. */
function futureFirst(
  preamble: string,
  response: string,
): { readonly line: string; readonly before: string; readonly answer: string } {
  const answer = withoutFuture(response);
  if (answer.names.length === 0) return { line: "", before: preamble, answer: response };
  const before = withoutFuture(preamble);
  return {
    line: `from __future__ import ${[...before.names, ...answer.names].join(", ")}\n`,
    before: before.source,
    answer: answer.source,
  };
}

/** Indents a Python body as the body of a function, also if it starts at the margin or lacks the white space of its first line. */
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

/** Indents the docstring of a head as the body, which may use two spaces or a tab: Python requires one level for both. */
function aligned(head: string, body: string): string {
  const [, level] = /^([ \t]+)[^\s#]/m.exec(body) ?? [];
  return level === undefined ? head : head.replace(/^[ \t]+(?=[rRuU]?["'])/m, level);
}

/** Returns a body in braces without the brace that closes the function, which the stub adds. */
function unclosed(body: string): string {
  const count = (brace: string): number => body.split(brace).length - 1;
  return body.trimEnd().endsWith("}") && count("}") === count("{") + 1 ? body.trimEnd().slice(0, -1) : body;
}

function lineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
