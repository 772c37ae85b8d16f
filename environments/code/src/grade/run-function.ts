import { defined, type Sandbox, type SandboxResult } from "@mrlm/kit";
import type { SandboxLimits } from "@mrlm/kit/options";
import type { SandboxTestReport, SandboxTestResult } from "@mrlm/kit/service";
import { solutionCode } from "../answer/solution-code.ts";
import type { Ending, Outcome, TestOutcome } from "../problem/outcome.ts";
import type { FunctionProblem, FunctionTest, Language } from "../problem/problem.ts";

/** Sandbox and limits of an attempt. */
export interface Run {
  readonly sandbox: Sandbox;
  readonly limits: Partial<SandboxLimits>;
  readonly signal: AbortSignal;
  /** Seed of random tests; see `testSeed`. */
  readonly seed?: string;
}

const SYNTAX_ERRORS = ["SyntaxError", "IndentationError", "TabError"];

/**
 * Runs an answer against the tests of its function.
 * @param code code of the response
 * @param examples whether to run examples that only give feedback
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
    ...defined({ seed }),
  };
  const report: SandboxTestReport = await sandbox.test(
    { code: program, ...dialectOf(problem.language), limits },
    suite,
    { signal },
  );
  const hasBegun = report.tests.some(({ verdict }) => verdict !== "not-run");
  const ending = endingOf(report, { offset, isPublic: !hasBegun });
  return { ...(ending && { ending }), tests: tests.map((test, i) => outcomeOf(test, report.tests[i], offset)) };
}

/**
 * Returns the end of an attempt that did not complete; `undefined` for one that did.
 * @param options.offset number of lines before the code of the response
 * @param options.isPublic whether feedback may contain the error, because no hidden test can have caused it
 */
export function endingOf(
  { verdict, error }: SandboxResult,
  { offset, isPublic }: { readonly offset: number; readonly isPublic: boolean },
): Ending | undefined {
  if (verdict === "ok") return undefined;
  if (verdict !== "error") return { kind: "limit", limit: verdict };
  const kind = SYNTAX_ERRORS.includes(error?.name ?? "") ? "syntax" : "raised";
  if (error === undefined || !isPublic) return { kind };
  const { line, ...rest } = error;
  return { kind, error: { ...rest, ...(line === undefined || line <= offset ? {} : { line: line - offset }) } };
}

/** Returns the dialect of a submission for sandboxes with several languages. */
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
