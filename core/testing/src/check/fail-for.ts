import type { Finding } from "./finding.ts";
import type { Found } from "./run-check.ts";

/** Throws one error with all findings. A single error of another kind is thrown unchanged, since a test runner prints the difference of an assertion. */
export function failFor(findings: readonly Found[]): void {
  const [first] = findings;
  if (first === undefined) return;
  if (findings.length === 1 && first.error !== undefined && first.error.name !== "Defect") throw first.error;
  throw new Error(findings.map(describeFinding).join("\n"), { cause: first.error });
}

function describeFinding({ code, severity, message, fix }: Finding): string {
  const acknowledge = severity === "warning" ? ` Or state the reason: \`acknowledged: { ${code}: "..." }\`.` : "";
  return `${severity} ${code}: ${message}\n  ${fix}${acknowledge}`;
}
