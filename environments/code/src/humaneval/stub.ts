import type { Stub } from "../problem/problem.ts";
import { bodyStatements, isDefinition, topStatements } from "../python/statements.ts";

/** Splits a prompt of HumanEval into the last definition of the function and the code before it. Returns `undefined` without a definition. */
export function stubOf(prompt: string, entryPoint: string): Stub | undefined {
  const definition = topStatements(prompt)?.findLast((statement) => isDefinition(statement, entryPoint));
  if (definition === undefined) return undefined;
  const start = (definition.lines[0] as { start: number }).start;
  return { preamble: prompt.slice(0, start), head: prompt.slice(start), tail: "" };
}

/** Completes a prompt to a program: adds a body if it ends at the head of the function. */
export function promptAlone(prompt: string, entryPoint: string): string {
  return prompt.trimEnd().endsWith(":") && bodyStatements(prompt, entryPoint) === undefined
    ? `${prompt.trimEnd()}\n    pass\n`
    : prompt;
}
