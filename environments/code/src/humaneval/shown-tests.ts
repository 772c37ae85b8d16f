import { holdsCalls } from "../problem/calls.ts";
import { topStatements } from "../python/statements.ts";

/** Names that say nothing of what other tests have left behind. */
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
 * Whether a test asks for nothing but what the prompt shows: each of its calls stands there, word for word. Such a test can be passed by heart. One that
 * stands on more than itself is left where it is.
 * @param test the test, by the function's own name
 */
export function isShown(test: string, entryPoint: string, prompt: string): boolean {
  const [statement, ...more] = topStatements(test) ?? [];
  if (statement === undefined || more.length > 0) return false;
  const standsAlone = statement.tokens.every(
    ({ kind, text }) => kind !== "name" || text === entryPoint || OWN_NAMES.has(text),
  );
  return standsAlone && holdsCalls(prompt, test, entryPoint);
}
