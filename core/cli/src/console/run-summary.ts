import type { RunSummary } from "@mrlm/runtime";
import type { Console } from "./console.ts";
import { decimal, duration } from "./numbers.ts";
import { resumeLine } from "./resume-line.ts";
import { shownPath } from "./shown-path.ts";
import { table } from "./table.ts";

/**
 * What a run came to: the evaluations as a table, where the time went, where everything is, and what to try next.
 * @param needsConfig whether a configuration is what makes the environments known
 */
export function printSummary(console: Console, summary: RunSummary, needsConfig: boolean): void {
  const rows = summary.evaluations.flatMap(({ label, step, results }) =>
    results.map(({ environment, tasks, greedy, sampled }) => [
      label === "start" ? "before training" : `after ${label}`,
      String(step),
      environment,
      String(tasks),
      decimal(greedy.accuracy),
      decimal(sampled?.reward),
    ]),
  );
  console.print("");
  if (rows.length > 0) console.print(`${table([["", "step", "environment", "tasks", "greedy accuracy", "sampled reward"], ...rows])}\n`);
  if (Object.keys(summary.seconds).length > 0) console.print(`${timeTable(summary)}\n`);
  const directory = shownPath(summary.directory);
  console.print(`run directory: ${directory}`);
  const environment = summary.evaluations[0]?.results[0]?.environment.replace(/@.*/, "");
  if (summary.status === "stopped") {
    console.print(`\nStopped after step ${summary.steps}. ${resumeLine(summary.directory)}`);
    if (environment !== undefined && summary.steps > 0) console.print(`Or see what it has learnt so far:\n  npx mrlm eval --model ${directory} --environment ${environment}`);
    return;
  }
  console.print("\nNext:");
  if (environment !== undefined) console.print(`  npx mrlm eval --model ${shownPath(`${summary.directory}/model`)} --environment ${environment}`);
  console.print(`  npx mrlm doctor ${directory}`);
  console.print(`  npx mrlm train --config ${shownPath(`${summary.directory}/config.yaml`)} --seed 1`);
  const where = needsConfig ? ` --config ${shownPath(`${summary.directory}/config.yaml`)}` : "";
  console.print(environment === undefined ? "  npx mrlm info" : `  npx mrlm serve --environments ${environment}${where}`);
}

function timeTable({ seconds, trainingSeconds }: RunSummary): string {
  const total = Object.values(seconds).reduce((sum, spent) => sum + spent, 0);
  const phases = Object.entries(seconds).sort(([, one], [, other]) => other - one);
  const rows = phases.map(([phase, spent]) => [phase, duration(spent), `${((100 * spent) / Math.max(total, 1e-9)).toFixed(0)} %`]);
  return `${table([["time", "spent", "share"], ...rows])}\niterations took ${duration(trainingSeconds)} in all`;
}
