import { type Statement, topStatements } from "../python/statements.ts";
import type { Token } from "../python/token.ts";
import type { SplitCheck } from "./split-check.ts";

/** The first test that hands the candidate a function, which cannot reach a submission; `undefined` where none does. */
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

/** Names of the functions that code defines. */
function definedIn(code: string): string[] {
  return (topStatements(code) ?? []).flatMap(({ tokens }) =>
    tokens.flatMap(({ text }, i) => (text === "def" ? [tokens[i + 1]?.text ?? ""] : [])),
  );
}

/** What stands directly in the brackets of the candidate's calls, not in those of other calls. */
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
