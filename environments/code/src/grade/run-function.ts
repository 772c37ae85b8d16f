import type { Sandbox, SandboxLimits, SandboxResult, SandboxTestReport, SandboxTestResult } from "@mrlm/spec";
import { solutionCode } from "../answer/solution-code.ts";
import type { Ending, Outcome, TestOutcome } from "../problem/outcome.ts";
import type { FunctionProblem, FunctionTest, Language } from "../problem/problem.ts";
import { patiently } from "./patiently.ts";

/** What an attempt is run with. */
export interface Run {
  readonly sandbox: Sandbox;
  readonly limits: Partial<SandboxLimits>;
  readonly signal: AbortSignal;
  /** Of random tests; see `testSeed`. */
  readonly seed?: string;
}

const SYNTAX_ERRORS = ["SyntaxError", "IndentationError", "TabError"];

/**
 * Runs an answer against the tests of its function.
 * @param code what was said, without what stands around it
 * @param examples whether to run examples that count for nothing but feedback
 */
export async function runFunction(
  code: string,
  problem: FunctionProblem,
  examples: boolean,
  { sandbox, limits, signal, seed }: Run,
): Promise<Outcome> {
  const tests = examples ? problem.tests : problem.tests.filter(({ counted }) => counted);
  const { code: program, offset } = solutionCode(code, problem);
  const suite = {
    entryPoints: [problem.entryPoint],
    harness: problem.harness,
    tests: tests.map(({ code: test }, i) => ({ name: `test ${i + 1}`, code: test })),
    ...(seed === undefined ? {} : { seed }),
  };
  const report: SandboxTestReport = await patiently(
    () => sandbox.test({ code: program, ...dialectOf(problem.language), limits }, suite, { signal }),
    signal,
  );
  const hasBegun = report.tests.some(({ verdict }) => verdict !== "not-run");
  const ending = endingOf(report, { offset, isTold: !hasBegun });
  return { ...(ending && { ending }), tests: tests.map((test, i) => outcomeOf(test, report.tests[i], offset)) };
}

/**
 * How it ended, where that was not by itself.
 * @param told.offset lines before the code that was said
 * @param told.isTold whether the error may be told: no hidden test can have had a part in it
 */
export function endingOf(
  { verdict, error }: SandboxResult,
  { offset, isTold }: { readonly offset: number; readonly isTold: boolean },
): Ending | undefined {
  if (verdict === "ok") return undefined;
  if (verdict !== "error") return { kind: "limit", limit: verdict };
  const kind = SYNTAX_ERRORS.includes(error?.name ?? "") ? "syntax" : "raised";
  if (error === undefined || !isTold) return { kind };
  const { line, ...rest } = error;
  return { kind, error: { ...rest, ...(line === undefined || line <= offset ? {} : { line: line - offset }) } };
}

/** What the sandbox is told of the language, where it runs more than one. */
export function dialectOf(language: Language): { readonly dialect?: string } {
  return language === "typescript" ? { dialect: "typescript" } : {};
}

function outcomeOf(
  { shown, visible, counted }: FunctionTest,
  result: SandboxTestResult | undefined,
  offset: number,
): TestOutcome {
  const passed = result?.verdict === "passed";
  const error = result?.error;
  const line = error?.line === undefined || error.line <= offset ? "" : ` (line ${error.line - offset})`;
  const message = error === undefined ? result?.message : `${error.name}: ${error.message}${line}`;
  return {
    shown,
    visible,
    counted,
    passed,
    raised: !passed && (error !== undefined || result?.verdict !== "failed"),
    ...(passed || message === undefined ? {} : { message }),
  };
}
