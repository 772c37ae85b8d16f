import { type Statement, topStatements } from "../python/statements.ts";
import type { Token } from "../python/token.ts";
import type { SplitCheck } from "./split-check.ts";

/** Returns the first test that passes a function to the candidate, which a submission cannot receive; `undefined` if there is none. */
export function passesFunction({ setUp, parameter, tests }: SplitCheck): string | undefined {
  const functions = new Set(definedIn(setUp));
  return tests.find((test) => {
    for (const name of definedIn(test)) functions.add(name);
    return (topStatements(test) ?? []).some((statement) =>
      argumentsOf(statement, parameter).some(
        ({ kind, text, isCalled }) => kind === "name" && (text === "lambda" || (functions.has(text) && !isCalled)),
      ),
    );
  });
}

/** Returns the names of the functions that code defines. */
function definedIn(code: string): string[] {
  return (topStatements(code) ?? []).flatMap(({ tokens }) =>
    tokens.flatMap(({ text }, i) => (text === "def" ? [tokens[i + 1]?.text ?? ""] : [])),
  );
}

/** Returns the direct arguments of calls of the candidate, without those of nested calls. */
function argumentsOf({ tokens }: Statement, candidate: string): (Token & { readonly isCalled: boolean })[] {
  return tokens.flatMap(({ text, depth }, i) => {
    if (text !== candidate || tokens[i + 1]?.text !== "(") return [];
    const end = tokens.findIndex((token, at) => at > i + 1 && token.depth <= depth && token.text !== "(");
    return tokens
      .slice(i + 2, end < 0 ? undefined : end)
      .map((token, at) => ({ ...token, isCalled: tokens[i + 3 + at]?.text === "(" }))
      .filter((token) => token.depth === depth + 1);
  });
}
