import { bound, mentioned } from "../python/names.ts";
import { bodyStatements, isDefinition, type Statement, topStatements } from "../python/statements.ts";

/** The tests in a function `check(candidate)`. */
export interface SplitCheck {
  /** What stands around the function: imports, helpers, data. */
  readonly setUp: string;
  /** What the tests call the function that they test. */
  readonly parameter: string;
  /** One for each counted statement, to be run in this order in one scope. */
  readonly tests: readonly string[];
}

/** Statements that make no sense outside their function. */
const BOUND_TO_FUNCTION = ["return", "yield", "await", "nonlocal", "global"];
const CHECKING = /assert|check|expect|verify/i;
const DEFINITIONS = ["def", "async", "class", "@"];
const BLOCKS = ["for", "while", "with", "if", "try"];

/**
 * Splits the body of `check(candidate)` statement by statement. A statement counts if it can fail because of the candidate: it mentions the
 * candidate, or a name that was made from it, and asserts something; a loop or block counts as one. What stands before a counted statement (imports,
 * data, results to be compared) is run with it. A statement such as `assert True` says nothing about the candidate and is no test.
 * `undefined` where there is no such function.
 */
export function splitCheck(source: string): SplitCheck | undefined {
  const statements = topStatements(source);
  const check = statements?.findLast((statement) => isDefinition(statement, "check"));
  if (statements === undefined || check === undefined) return undefined;
  const others = statements.filter((statement) => statement !== check && !isCall(statement, "check"));
  const setUp = others.map(({ code }) => code).join("\n");
  const body = bodyStatements(source, "check");
  const parameter = parameterOf(check);
  const tests = body?.some(isBoundToFunction) === false ? testsOf(body, parameter) : [];
  // What cannot be split is one test.
  return tests.length > 0 ? { setUp, parameter, tests } : { setUp: `${setUp}\n${check.code}`.trimStart(), parameter, tests: [`check(${parameter})`] };
}

function testsOf(body: readonly Statement[], candidate: string): string[] {
  const tainted = new Set([candidate]);
  const tests: string[] = [];
  let before: Statement[] = [];
  const take = (counted: readonly Statement[]): void => {
    tests.push([...forget(before, tainted), ...before.map(({ code }) => code), ...counted.map(({ code }) => code)].join("\n"));
    before = [];
  };
  for (const statement of body) {
    const names = mentioned(statement);
    const concerns = [...names].some((name) => tainted.has(name));
    if (concerns) for (const name of bound(statement)) tainted.add(name);
    if (concerns && isTest(statement)) take([statement]);
    else before.push(statement);
  }
  // Left over: calls of the candidate that only must not raise.
  if (before.some((statement) => [...mentioned(statement)].some((name) => tainted.has(name)))) take([]);
  return tests;
}

/** A name that its set-up was to make from the candidate must not keep an earlier value where that set-up fails. */
function forget(setUp: readonly Statement[], tainted: ReadonlySet<string>): string[] {
  const names = [...new Set(setUp.flatMap((statement) => [...bound(statement)].filter((name) => tainted.has(name))))];
  return names.map((name) => `globals().pop(${JSON.stringify(name)}, None)`);
}

function isTest({ tokens }: Statement): boolean {
  const first = tokens[0]?.text ?? "";
  if (first === "assert") return true;
  if (BLOCKS.includes(first) && tokens.some(({ text }) => text === "assert" || text === "raise")) return true;
  const isAssignment = tokens.some(({ text, depth }) => text === "=" && depth === 0);
  const calls = tokens.some(({ kind, text }, i) => kind === "name" && CHECKING.test(text) && tokens[i + 1]?.text === "(");
  return calls && (BLOCKS.includes(first) || (!isAssignment && !DEFINITIONS.includes(first)));
}

function isBoundToFunction({ tokens }: Statement): boolean {
  // Inside a nested function they are at home.
  return !tokens.some(({ text }) => text === "def" || text === "lambda") && tokens.some(({ kind, text }) => kind === "name" && BOUND_TO_FUNCTION.includes(text));
}

function isCall({ tokens }: Statement, name: string): boolean {
  return tokens[0]?.text === name && tokens[1]?.text === "(";
}

/** The name of the parameter of `check`. */
function parameterOf({ tokens }: Statement): string {
  return tokens[tokens.findIndex(({ text }) => text === "def") + 3]?.text ?? "candidate";
}
