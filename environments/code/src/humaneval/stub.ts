import type { Stub } from "../problem/problem.ts";
import { bodyStatements, isDefinition, topStatements } from "../python/statements.ts";

/** What a prompt of HumanEval gives a solution: the last definition of the function, and everything before it. `undefined` where there is none. */
export function stubOf(prompt: string, entryPoint: string): Stub | undefined {
  const definition = topStatements(prompt)?.findLast((statement) => isDefinition(statement, entryPoint));
  if (definition === undefined) return undefined;
  const start = (definition.lines[0] as { start: number }).start;
  return { preamble: prompt.slice(0, start), head: prompt.slice(start), tail: "" };
}

/** A prompt as a program that does nothing: one that ends at the head of the function gets a body. */
export function promptAlone(prompt: string, entryPoint: string): string {
  return prompt.trimEnd().endsWith(":") && bodyStatements(prompt, entryPoint) === undefined
    ? `${prompt.trimEnd()}\n    pass\n`
    : prompt;
}
