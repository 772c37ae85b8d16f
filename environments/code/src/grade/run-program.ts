import type { Outcome, TestOutcome } from "../problem/outcome.ts";
import type { ProgramProblem } from "../problem/problem.ts";
import { dialectOf, endingOf, type Run } from "./run-function.ts";

/** Limit in milliseconds of all tests of an attempt. It is well below the deadline of a step, after which there is no verdict. */
const TOGETHER_MS = 300_000;

/** Runs a program on the input of each test, each in a new interpreter. The first run that exceeds a limit is the last one. */
export async function runProgram(
  code: string,
  { language, tests, tolerance }: ProgramProblem,
  { sandbox, limits, signal }: Run,
): Promise<Outcome> {
  const outcomes: TestOutcome[] = [];
  let wallMs = 0;
  // A correct output is never truncated.
  const { outputBytes } = { ...sandbox.limits, ...limits };
  for (const { input, output, visible } of tests) {
    const result = await sandbox.run(
      {
        code,
        ...dialectOf(language),
        stdin: input,
        limits: { ...limits, outputBytes: Math.max(outputBytes, 2 * Buffer.byteLength(output)) },
      },
      { signal },
    );
    wallMs += result.wallMs;
    const ending =
      wallMs > TOGETHER_MS
        ? { kind: "limit" as const, limit: "timeout" as const }
        : endingOf(result, { offset: 0, isPublic: visible });
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

/**
 * Returns true if a program wrote the expected lines, except for white space at the end of lines and of the text. With a tolerance, numbers may differ by it,
 * absolutely or relatively.
 */
function sameOutput(written: string, expected: string, tolerance: number): boolean {
  const [one, other] = [linesOf(written), linesOf(expected)];
  if (one.length !== other.length) return false;
  return one.every(
    (line, i) => line === other[i] || (tolerance > 0 && sameNumbers(line, other[i] as string, tolerance)),
  );
}

function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}

function sameNumbers(line: string, expected: string, tolerance: number): boolean {
  const [words, wanted] = [line.trim().split(/\s+/), expected.trim().split(/\s+/)];
  return (
    words.length === wanted.length &&
    words.every((word, i) => word === wanted[i] || isNear(word, wanted[i] as string, tolerance))
  );
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

function isNear(word: string, wanted: string, tolerance: number): boolean {
  if (!NUMBER.test(word) || !NUMBER.test(wanted)) return false;
  const [value, target] = [Number(word), Number(wanted)];
  return Number.isFinite(target) && Math.abs(value - target) <= tolerance * Math.max(1, Math.abs(target));
}
