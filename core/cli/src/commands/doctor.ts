import { diagnose, readRun } from "@mrlm/runtime";
import type { CommandModule } from "../command.ts";
import { EXIT } from "../exit-codes.ts";

/** `mrlm doctor`: says in words what looks wrong with a run, and what to try. */
export const doctorCommand: CommandModule = (program, start, finish) => {
  program
    .command("doctor")
    .description("say what looks wrong with a run, finished or under way, and what to try")
    .argument("<run>", "a run's directory")
    .action((path: string) => {
      const { console } = start();
      const run = readRun(path);
      const findings = diagnose(run);
      const iterations = run.stages.reduce((sum, stage) => sum + stage.iterations.length, 0);
      console.emit({ event: "diagnosis", run: run.directory, status: run.status, iterations, findings: findings.map((finding) => ({ ...finding })) });
      console.print(`${run.directory}: ${run.status}, ${iterations} iterations in ${run.stages.length} stages`);
      for (const { severity, stage, what, advice, rule } of findings) console.print(`\n${severity}${stage === undefined ? "" : `, ${stage}`}: ${what}\n  try: ${advice}\n  (${rule}: docs/guides/diagnosis.md)`);
      if (findings.length === 0) console.print(iterations === 0 ? "\nIt has not done an iteration yet." : "\nNothing looks wrong.");
      if (findings.some(({ severity }) => severity === "problem")) finish(EXIT.unhealthy);
    });
};
