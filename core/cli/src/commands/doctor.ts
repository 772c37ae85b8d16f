import { diagnose, readRun } from "@mrlm/runtime";
import type { CommandContext } from "../command.ts";
import { resumeLine } from "../console/resume-line.ts";
import { EXIT } from "../exit-codes.ts";

/** Prints what looks wrong with a run, and what to try; the exit code. */
export function doctor({ console }: CommandContext, path: string): number {
  const run = readRun(path);
  const findings = diagnose(run);
  const iterations = run.stages.reduce((sum, stage) => sum + stage.iterations.length, 0);
  console.emit({ event: "diagnosis", run: run.directory, status: run.status, iterations, findings: findings.map((finding) => ({ ...finding })) });
  console.print(`${run.directory}: ${run.status}, ${iterations} iterations in ${run.stages.length} stages`);
  if (run.status === "interrupted" || run.status === "failed" || run.status === "stopped") console.print(resumeLine(run.directory));
  for (const { severity, stage, what, advice, rule } of findings) console.print(`\n${severity}${stage === undefined ? "" : `, ${stage}`}: ${what}\n  try: ${advice}\n  (${rule}: docs/guides/diagnosis.md)`);
  if (findings.length === 0) console.print(iterations === 0 ? "\nIt has not done an iteration yet." : "\nNothing looks wrong.");
  return findings.some(({ severity }) => severity === "problem") ? EXIT.unhealthy : EXIT.ok;
}
