import type { SandboxError } from "@mrlm/kit/service";
import type { Outcome, TestOutcome } from "./problem/outcome.ts";
import type { CodeOptions } from "./options.ts";

/** Maximal number of failed tests in feedback. */
const NAMED = 3;
/** Maximal number of characters of a message in feedback. */
const LONGEST = 300;

const LIMITS = {
  timeout: "ran out of time",
  "cpu-limit": "used too much processor time",
  "memory-limit": "used too much memory",
  killed: "broke its interpreter",
} as const;

/**
 * Returns the feedback on a failed attempt: an error before the tests, the failed visible tests, or the fact that hidden tests fail. It contains nothing
 * that a hidden test may have caused: no output, no values, no count.
 */
export function feedbackOn({ ending, tests }: Outcome, style: CodeOptions["style"]): string {
  const problems = problemsOf(
    ending,
    tests.filter(({ visible, passed }) => visible && !passed),
  );
  return style === "terse"
    ? problems.map((problem) => problem.replace(/\.$/, "")).join("\n")
    : [...problems, "Try again."].join("\n");
}

function problemsOf(ending: Outcome["ending"], failed: readonly TestOutcome[]): string[] {
  if (ending?.kind === "nothing") return ["There was no code in the reply."];
  if (ending?.kind === "syntax") return [`The code cannot be parsed${describeError(ending.error)}.`];
  if (ending?.kind === "raised") return [`The code raised an error${describeError(ending.error)}.`];
  const limit = ending === undefined ? [] : [`The code ${LIMITS[ending.limit]}.`];
  const named = failed.filter(({ shown }) => shown !== "").slice(0, NAMED);
  const lines = named.map(({ shown, message }) => `- ${shown}${message === undefined ? "" : `: ${cut(message)}`}`);
  if (lines.length > 0) return [...limit, "It fails these tests:", ...lines];
  return limit.length > 0 ? limit : ["It fails hidden tests."];
}

function describeError(error: SandboxError | undefined): string {
  if (error === undefined) return "";
  const place = error.line === undefined ? "" : ` in line ${error.line}`;
  return `: ${error.name}: ${cut(error.message)}${place}`;
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}...`;
}
