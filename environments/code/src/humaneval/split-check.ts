import { bound, mentioned } from "../python/names.ts";
import { bodyStatements, isDefinition, type Statement, topStatements } from "../python/statements.ts";

/** Tests in a function `check(candidate)`. */
export interface SplitCheck {
  /** Code around the function: imports, helpers, data. */
  readonly setUp: string;
  /** Name of the tested function in the tests. */
  readonly parameter: string;
  /** One test for each counted statement, to be run in this order in one scope. */
  readonly tests: readonly string[];
}

/** Statements that are invalid outside of their function. */
const BOUND_TO_FUNCTION = ["return", "nonlocal", "global"];
/** Statements of functions whose calls do nothing. */
const SUSPENDING = ["yield", "await"];
const CHECKING = /assert|check|expect|verify/i;
const DEFINITIONS = ["def", "async", "class", "@"];
const BLOCKS = ["for", "while", "with", "if", "try"];

/**
 * Splits the body of `check(candidate)` into statements. A statement counts if the candidate can make it fail: it mentions the candidate, or a name that was
 * computed from it, and contains an assertion; a loop or block counts as one statement. Statements before a counted one (imports, data, results to compare)
 * run with it. A statement such as `assert True` does not mention the candidate and is not a test. If the body is invalid outside of its function, for example
 * because it returns early, the whole check is one test. Returns `undefined` if there is no such function, or if it asserts nothing about the candidate.
 */
export function splitCheck(source: string): SplitCheck | undefined {
  const statements = topStatements(source);
  const check = statements?.findLast((statement) => isDefinition(statement, "check"));
  const body = bodyStatements(source, "check");
  if (statements === undefined || check === undefined || body === undefined) return undefined;
  const setUp = statements
    .filter((statement) => statement !== check && !isCall(statement, "check"))
    .map(({ code }) => code)
    .join("\n");
  const parameter = parameterOf(check);
  if (body.some((statement) => hasOwn(statement, SUSPENDING))) return undefined;
  if (body.some((statement) => hasOwn(statement, BOUND_TO_FUNCTION)))
    return checks(check)
      ? { setUp: `${setUp}\n${check.code}`.trimStart(), parameter, tests: [`check(${parameter})`] }
      : undefined;
  const tests = testsOf(body, parameter);
  return tests.length === 0 ? undefined : { setUp, parameter, tests };
}

function testsOf(body: readonly Statement[], candidate: string): string[] {
  const tainted = new Set([candidate]);
  const tests: string[] = [];
  let before: Statement[] = [];
  for (const statement of body) {
    const concerns = [...mentioned(statement)].some((name) => tainted.has(name));
    if (concerns) for (const name of bound(statement)) tainted.add(name);
    if (concerns && isTest(statement)) {
      tests.push([...forget(before, tainted), ...[...before, statement].map(({ code }) => code)].join("\n"));
      before = [];
    } else before.push(statement);
  }
  return tests;
}

/** Deletes names that set-up code computes from the candidate, so that they keep no earlier value if the set-up fails. */
function forget(setUp: readonly Statement[], tainted: ReadonlySet<string>): string[] {
  const names = [...new Set(setUp.flatMap((statement) => [...bound(statement)].filter((name) => tainted.has(name))))];
  return names.map((name) => `globals().pop(${JSON.stringify(name)}, None)`);
}

function isTest(statement: Statement): boolean {
  const first = statement.tokens[0]?.text ?? "";
  const isAssignment = statement.tokens.some(({ text, depth }) => text === "=" && depth === 0);
  return (
    checks(statement) &&
    (first === "assert" || BLOCKS.includes(first) || (!isAssignment && !DEFINITIONS.includes(first)))
  );
}

/** Returns true if a statement contains an assertion or raises an error. */
function checks({ tokens }: Statement): boolean {
  return tokens.some(
    ({ kind, text }, i) =>
      kind === "name" &&
      (text === "assert" ||
        text === "raise" ||
        (CHECKING.test(text) && tokens[i + 1]?.text === "(" && tokens[i - 1]?.text !== "def")),
  );
}

/** Returns true if a statement has one of the keywords outside of nested functions. */
function hasOwn({ tokens }: Statement, keywords: readonly string[]): boolean {
  return (
    !tokens.some(({ text }) => text === "def" || text === "lambda") &&
    tokens.some(({ kind, text }) => kind === "name" && keywords.includes(text))
  );
}

function isCall({ tokens }: Statement, name: string): boolean {
  return tokens[0]?.text === name && tokens[1]?.text === "(";
}

/** Returns the name of the parameter of `check`. */
function parameterOf({ tokens }: Statement): string {
  return tokens[tokens.findIndex(({ text }) => text === "def") + 3]?.text ?? "candidate";
}
