import { statSync } from "node:fs";
import { diagnose, examineFile, type Finding, readRun } from "@mrlm/runtime";
import type { CommandContext } from "../command-context.ts";
import { count } from "../console/numbers.ts";
import { resumeLine } from "../console/resume-line.ts";
import { EXIT } from "../exit-codes.ts";

/** Prints the findings about runs, results of evaluations or recorded files. Returns the exit code of the worst. */
export async function doctor(context: CommandContext, paths: readonly string[]): Promise<number> {
  const codes: number[] = [];
  for (const path of paths) {
    if (codes.length > 0) context.console.print("");
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    codes.push(isFile ? await doctorFile(context, path) : doctorRun(context, path));
  }
  return Math.max(...codes);
}

function doctorRun({ console }: CommandContext, path: string): number {
  const run = readRun(path);
  const findings = diagnose(run);
  const iterations = run.stages.reduce((sum, stage) => sum + stage.iterations.length, 0);
  console.emit({
    event: "diagnosis",
    run: run.directory,
    status: run.status,
    iterations,
    findings: findings.map((finding) => ({ ...finding })),
  });
  const measured = count(run.evaluations.length, "result");
  const trained = `${count(iterations, "iteration")} in ${count(run.stages.length, "stage")}`;
  console.print(`${run.directory}: ${run.status}, ${run.isEvaluation ? measured : trained}`);
  if (run.status === "interrupted" || run.status === "failed" || run.status === "stopped")
    console.print(resumeLine(run.directory, run.isEvaluation ? "eval" : "train"));
  if (run.unread !== undefined) console.note(`note: the causes of lost episodes are not known. ${run.unread}`);
  for (const finding of findings) console.print(`\n${described(finding)}`);
  if (findings.length === 0)
    console.print(
      iterations === 0 && !run.isEvaluation ? "\nThe run has no complete iteration yet." : "\nNothing looks wrong.",
    );
  return exitCode(findings);
}

async function doctorFile({ console }: CommandContext, path: string): Promise<number> {
  const { file, kind, episodes, findings } = await examineFile(path);
  console.emit({ event: "diagnosis", file, kind, episodes, findings: findings.map((finding) => ({ ...finding })) });
  console.print(
    `${file}: ${kind === "evaluation" ? "results of an evaluation" : "recorded file"}, ${episodes} episodes`,
  );
  for (const finding of findings) console.print(`\n${described(finding)}`);
  if (findings.length === 0) console.print("\nNothing looks wrong.");
  return exitCode(findings);
}

function described({ severity, stage, what, advice, rule }: Finding): string {
  return `${severity}${stage === undefined ? "" : `, ${stage}`}: ${what}\n  try: ${advice}\n  (${rule}: docs/train/diagnosis.md)`;
}

function exitCode(findings: readonly Finding[]): number {
  return findings.some(({ severity }) => severity === "problem") ? EXIT.unhealthy : EXIT.ok;
}
