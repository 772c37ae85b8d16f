import type { Finding, MeasuredSpeed } from "@mrlm/testing";
import { count } from "./numbers.ts";

/** Outcome of `mrlm check`. */
export interface CheckOutcome {
  readonly name: string;
  readonly version: string;
  readonly parts: readonly string[];
  readonly checks: number;
  /** Checks that `--quick` left out. */
  readonly leftOut: number;
  readonly findings: readonly Finding[];
  readonly seconds: number;
}

/** Counts of findings: those that must be removed, and acknowledged warnings. */
export function countFindings(findings: readonly Finding[]): {
  readonly errors: number;
  readonly warnings: number;
  readonly acknowledged: number;
} {
  const open = findings.filter(({ acknowledged }) => acknowledged === undefined);
  const errors = open.filter(({ severity }) => severity === "error").length;
  return { errors, warnings: open.length - errors, acknowledged: findings.length - open.length };
}

/** Formats the findings of one part, the most severe first. */
export function describeFindings(subject: string, findings: readonly Finding[]): string {
  const rank = ({ severity, acknowledged }: Finding): number =>
    acknowledged !== undefined ? 2 : severity === "warning" ? 1 : 0;
  const sorted = findings.toSorted((one, other) => rank(one) - rank(other));
  return [subject, ...sorted.map(describe)].join("\n\n");
}

function describe({ code, severity, message, fix, place, acknowledged }: Finding): string {
  const where = place === undefined ? "" : `  ${place.file}:${place.line}`;
  if (acknowledged !== undefined)
    return `  acknowledged ${code}${where}\n${indented(message)}\n    reason: ${acknowledged}`;
  const other = severity === "warning" ? `\n    or:  acknowledged: { ${code}: "the reason" } in the definition` : "";
  return `  ${severity} ${code}${where}\n${indented(message)}\n    fix: ${fix}${other}`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "    ");
}

/** Formats the speed of an environment. */
export function describeSpeeds(subject: string, speeds: readonly MeasuredSpeed[]): string {
  const each = speeds.map(
    ({ transport, episodesPerSecond, resetMs, stepMs, longestBlockMs }) =>
      `${transport} ${Math.round(episodesPerSecond)} episodes/s, reset ${resetMs.toFixed(2)} ms, step ${stepMs.toFixed(2)} ms, longest block ${Math.round(longestBlockMs)} ms`,
  );
  return `${subject}, one session: ${each.join("; ")}`;
}

/** Formats the result in one line. */
export function summaryLine({ name, version, parts, checks, leftOut, findings, seconds }: CheckOutcome): string {
  const { errors, warnings, acknowledged } = countFindings(findings);
  const result = [
    errors > 0 ? count(errors, "error") : "",
    warnings > 0 ? count(warnings, "warning") : "",
    acknowledged > 0 ? `${count(acknowledged, "acknowledged warning")}` : "",
  ].filter((text) => text !== "");
  const counts = errors + warnings === 0 ? ["no findings", ...result] : result;
  const isAttacked = !parts.some((part) => part.startsWith("environment:"));
  const left =
    leftOut === 0 ? "" : `; --quick left out ${count(leftOut, "check")}${isAttacked ? "" : ": no attack was run"}`;
  return `${name} ${version}: ${counts.join(", ")} in ${count(checks, "check")} of ${count(parts.length, "part")} (${seconds.toFixed(1)} s)${left}`;
}

/** Returns a badge for a README, as Markdown. */
export function badge({ checks, findings }: CheckOutcome): string {
  const { errors, warnings } = countFindings(findings);
  const isGood = errors + warnings === 0;
  const text = isGood ? `${checks} passed` : `${count(errors + warnings, "finding")}`;
  const url = `https://img.shields.io/badge/mrlm_check-${encodeURIComponent(text)}-${isGood ? "brightgreen" : "red"}`;
  return `![mrlm check: ${text}](${url})`;
}
