import type { Outcome, TestOutcome } from "../problem/outcome.ts";
import type { ProgramProblem } from "../problem/problem.ts";
import { patiently } from "./patiently.ts";
import { sameOutput } from "./same-output.ts";
import { dialectOf, endingOf, type Run } from "./run-function.ts";

/** Milliseconds that the tests of an attempt may take together: well below the step's deadline, past which there would be no verdict at all. */
const TOGETHER_MS = 300_000;

/** Runs a program on the input of each test, each in a fresh interpreter. The first run that a limit ends is the last one. */
export async function runProgram(
  code: string,
  { language, tests, tolerance }: ProgramProblem,
  { sandbox, limits, signal }: Run,
): Promise<Outcome> {
  const outcomes: TestOutcome[] = [];
  let wallMs = 0;
  // A right answer is never cut, however long it is.
  const { outputBytes } = { ...sandbox.limits, ...limits };
  for (const { input, output, visible } of tests) {
    const result = await patiently(
      () =>
        sandbox.run(
          {
            code,
            ...dialectOf(language),
            stdin: input,
            limits: { ...limits, outputBytes: Math.max(outputBytes, 2 * Buffer.byteLength(output)) },
          },
          { signal },
        ),
      signal,
    );
    wallMs += result.wallMs;
    const ending =
      wallMs > TOGETHER_MS
        ? { kind: "limit" as const, limit: "timeout" as const }
        : endingOf(result, { offset: 0, isTold: visible });
    const passed = ending === undefined && !result.stdoutTruncated && sameOutput(result.stdout, output, tolerance);
    const message =
      ending?.kind === "raised"
        ? `${ending.error?.name ?? "Error"}: ${ending.error?.message ?? "it ended with a failure"}`
        : `it wrote ${JSON.stringify(result.stdout)}`;
    outcomes.push({
      shown: `for the input ${JSON.stringify(input)} the output should be ${JSON.stringify(output)}`,
      visible,
      counted: true,
      passed,
      raised: ending !== undefined,
      ...(passed ? {} : { message }),
    });
    if (ending?.kind === "syntax" || ending?.kind === "limit")
      return { ending, tests: [...outcomes, ...tests.slice(outcomes.length).map((test) => notRun(test.visible))] };
  }
  return { tests: outcomes };
}

function notRun(visible: boolean): TestOutcome {
  return { shown: "", visible, counted: true, passed: false, raised: true };
}
