import { holdsCalls } from "../problem/calls.ts";
import { topStatements } from "../python/statements.ts";

/** Names that do not refer to results of other tests. */
const OWN_NAMES = new Set([
  "assert",
  "not",
  "is",
  "in",
  "and",
  "or",
  "True",
  "False",
  "None",
  "abs",
  "len",
  "round",
  "sorted",
  "list",
  "tuple",
  "set",
  "str",
  "int",
  "float",
  "bool",
  "sum",
  "min",
  "max",
]);

/**
 * Returns true if the prompt contains each call of a test literally. Such a test can be passed from memory. A test that depends on other statements
 * is not one.
 * @param test the test with the own name of the function
 */
export function isShown(test: string, entryPoint: string, prompt: string): boolean {
  const [statement, ...more] = topStatements(test) ?? [];
  if (statement === undefined || more.length > 0) return false;
  const standsAlone = statement.tokens.every(
    ({ kind, text }) => kind !== "name" || text === entryPoint || OWN_NAMES.has(text),
  );
  return standsAlone && holdsCalls(prompt, test, entryPoint);
}
