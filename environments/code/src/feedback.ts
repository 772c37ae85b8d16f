import type { SandboxError } from "@mrlm/spec";
import type { Outcome, TestOutcome } from "./problem/outcome.ts";
import type { CodeOptions } from "./options.ts";

/** Failing tests that are named. */
const NAMED = 3;
/** Characters of each message that are told. */
const LONGEST = 300;

const LIMITS = {
  timeout: "ran out of time",
  "cpu-limit": "used too much processor time",
  "memory-limit": "used too much memory",
  killed: "broke its interpreter",
} as const;

/**
 * What the policy hears of an attempt that failed: an error before the tests, the visible tests that fail, or that hidden ones do. Nothing
 * that a hidden test could have put there: no output, no values, not how many.
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
  if (ending?.kind === "syntax") return [`The code cannot be parsed${told(ending.error)}.`];
  if (ending?.kind === "raised") return [`The code raised an error${told(ending.error)}.`];
  const limit = ending === undefined ? [] : [`The code ${LIMITS[ending.limit]}.`];
  const named = failed.filter(({ shown }) => shown !== "").slice(0, NAMED);
  const lines = named.map(({ shown, message }) => `- ${shown}${message === undefined ? "" : `: ${cut(message)}`}`);
  if (lines.length > 0) return [...limit, "It fails these tests:", ...lines];
  return limit.length > 0 ? limit : ["It fails hidden tests."];
}

function told(error: SandboxError | undefined): string {
  if (error === undefined) return "";
  const place = error.line === undefined ? "" : ` in line ${error.line}`;
  return `: ${error.name}: ${cut(error.message)}${place}`;
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}...`;
}
