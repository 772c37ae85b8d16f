import type { BeforeAndAfter, LearningCurve, RunSummary } from "@mrlm/runtime";
import { barChart } from "./bar-chart.ts";
import { beforeAfterText } from "./before-after-text.ts";
import type { Console } from "./console.ts";
import { cutAnswers } from "./evaluation-report.ts";
import { decimal, duration, percent } from "./numbers.ts";
import { resumeLine } from "./resume-line.ts";
import { shownPath } from "./shown-path.ts";
import { table } from "./table.ts";

/** A run's result, as it is printed. */
export interface RunReport {
  readonly summary: RunSummary;
  readonly curve: LearningCurve | undefined;
  readonly examples: readonly BeforeAndAfter[];
  /** Whether a configuration is what makes the environments known. */
  readonly needsConfig: boolean;
  /** File with the details. */
  readonly log: string | undefined;
}

/** Names of metrics for people. */
const CURVES: Readonly<Record<string, string>> = {
  "reward/mean": "mean reward",
  "preference/accuracy": "accuracy of the pairs",
  "loss/preference": "loss",
  "loss/nll": "loss",
  "loss/nll_observed": "loss of what is observed",
};
const CHART_WIDTH = 60;

/** Prints a run's result: curve, evaluations, two tasks before and after, where everything is, and the next commands. */
export function printSummary(console: Console, { summary, curve, examples, needsConfig, log }: RunReport): void {
  const directory = shownPath(summary.directory);
  if (curve !== undefined) console.print(`\n${curveText(curve)}`);
  if (summary.evaluations.length > 0) console.print(`\n${evaluationTable(summary)}`);
  if (examples.length > 0)
    console.print(
      `\nHeld-out tasks, answered greedily before training and after it\n(${selection(examples)}):\n\n${examples.map(beforeAfterText).join("\n\n")}`,
    );
  const spent = Object.values(summary.seconds).reduce((sum, seconds) => sum + seconds, 0);
  console.print(
    `\n${summary.status === "finished" ? "finished" : "stopped"} after ${summary.steps} steps, ${duration(spent)}`,
  );
  console.print(`run directory: ${directory}`);
  if (log !== undefined) console.print(`details: ${shownPath(log)}`);
  const environment = summary.evaluations[0]?.results[0]?.environment.replace(/[@#].*/, "");
  if (summary.status === "stopped") {
    console.print(`\n${resumeLine(summary.directory)}`);
    if (environment !== undefined && summary.steps > 0)
      console.print(
        `Or measure what it has learnt so far:\n  npx mrlm eval --model ${directory} --environment ${environment}`,
      );
    return;
  }
  const configuration = shownPath(`${summary.directory}/config.yaml`);
  const named = needsConfig ? ` --config ${configuration}` : "";
  const commands = [
    ...(environment === undefined
      ? []
      : [
          ["read more of what it wrote", `npx mrlm show ${directory} --best`],
          ["see a prompt as the model does", `npx mrlm render --model ${directory} --environment ${environment}`],
          ["measure it again", `npx mrlm eval --model ${directory} --environment ${environment}`],
        ]),
    ["look for problems", `npx mrlm doctor ${directory}`],
    ["train again, with another seed", `npx mrlm train --config ${configuration} --seed 1`],
    environment === undefined
      ? ["see what is installed", "npx mrlm info"]
      : ["host the environment for others", `npx mrlm serve --environments ${environment}${named}`],
  ] as const;
  console.print(`\nNext:\n${commands.map(([what, command]) => `  # ${what}\n  ${command}`).join("\n")}`);
}

function curveText({ metric, points }: LearningCurve): string {
  const [first, last] = [points[0]?.step, points.at(-1)?.step];
  const chart = barChart(
    points.map(({ value }) => value),
    CHART_WIDTH,
    decimal,
  );
  return `${CURVES[metric] ?? metric}, steps ${first} to ${last}\n${chart}`;
}

/** A row for each evaluation of each environment; the environment is in the title where there is one alone. */
function evaluationTable({ evaluations }: RunSummary): string {
  const results = evaluations.flatMap(({ label, step, results: each }) =>
    each.map((result) => ({ when: label === "start" ? "before training" : `after ${label}`, step, ...result })),
  );
  const names = new Set(results.map(({ environment }) => environment));
  const [first] = results;
  const isOne = names.size === 1;
  const rows = results.map(({ when, step, environment, greedy, sampled }) => [
    when,
    String(step),
    ...(isOne ? [] : [environment]),
    decimal(greedy.accuracy),
    decimal(sampled?.reward),
    percent(cutAnswers({ greedy, sampled })),
  ]);
  const title = isOne ? `${first?.environment}, ${first?.tasks} held-out tasks\n` : "";
  return `${title}${table([["", "step", ...(isOne ? [] : ["environment"]), "greedy accuracy", "sampled reward", "cut answers"], ...rows])}`;
}

/** How the examples were chosen: one that improved is no evidence for the rest. */
function selection(examples: readonly BeforeAndAfter[]): string {
  const kinds = examples.map(({ before, after }) =>
    (after.reward ?? 0) > (before.reward ?? 0) ? "improved" : "did not improve",
  );
  if (kinds.length === 2 && kinds[0] === kinds[1]) return `the first two that ${kinds[0]}`;
  return kinds.map((kind) => `the first that ${kind}`).join(", ");
}
