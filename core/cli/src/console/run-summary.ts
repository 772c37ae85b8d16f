import type { BeforeAndAfter, LearningCurve, RunSummary } from "@mrlm/runtime";
import { barChart } from "./bar-chart.ts";
import type { Console } from "./console.ts";
import { messageText, noText, rewardText } from "./episode-text.ts";
import { cutAnswers, tasksOf } from "./evaluation-report.ts";
import { decimal, duration, percent } from "./numbers.ts";
import { resumeLine } from "./resume-line.ts";
import { shownPath } from "./shown-path.ts";
import { table } from "./table.ts";
import { glyph } from "./unicode.ts";

/** Parts of the printed result of a run. */
export interface RunReport {
  readonly summary: RunSummary;
  readonly curve: LearningCurve | undefined;
  /** Episodes of a run that learnt from none of them; else 0. */
  readonly notLearnt: number;
  readonly examples: readonly BeforeAndAfter[];
  /** Trained policies, in the order of the configuration. */
  readonly policies: readonly string[];
  /** Whether the environments come from plugins of the configuration. */
  readonly needsConfig: boolean;
  /** File with the details. */
  readonly log: string | undefined;
}

/** Printed names of metrics. */
const CURVES: Readonly<Record<string, string>> = {
  "reward/mean": "mean reward",
  "preference/accuracy": "accuracy of the pairs",
  "loss/preference": "loss",
  "loss/nll": "loss",
  "loss/nll_observed": "loss of observations",
};
const CHART_WIDTH = 60;

/** Prints a run's result: curve, evaluations, two tasks before and after, where everything is, and the next commands. */
export function printSummary(
  console: Console,
  { summary, curve, notLearnt, examples, policies, needsConfig, log }: RunReport,
): void {
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
  if (notLearnt > 0)
    console.print(
      `Nothing was learnt: none of the ${notLearnt} episodes has a reward to learn from. \`npx mrlm doctor ${directory}\` names the first cause.`,
    );
  console.print(`run directory: ${directory}`);
  if (log !== undefined) console.print(`details: ${shownPath(log)}`);
  const environment = summary.evaluations[0]?.results[0]?.environment.replace(/[@#].*/, "");
  const policy = policies.length > 1 ? ` --policy ${policies[0]}` : "";
  if (summary.status === "stopped") {
    console.print(`\n${resumeLine(summary.directory)}`);
    if (environment !== undefined && summary.steps > 0)
      console.print(
        `Or evaluate the latest checkpoint:\n  npx mrlm eval --model ${directory}${policy} --environment ${environment}`,
      );
    return;
  }
  const configuration = shownPath(`${summary.directory}/config.yaml`);
  const named = needsConfig ? ` --config ${configuration}` : "";
  const commands = [
    ...(environment === undefined
      ? []
      : [
          ["print more of its answers", `npx mrlm show ${directory} --best`],
          [
            "print a prompt as the model receives it",
            `npx mrlm render --model ${directory}${policy} --environment ${environment}`,
          ],
          ["measure it again", `npx mrlm eval --model ${directory}${policy} --environment ${environment}`],
        ]),
    ["look for problems", `npx mrlm doctor ${directory}`],
    ["train again, with another seed", `npx mrlm train --config ${configuration} --seed 1`],
    environment === undefined
      ? ["list what is installed", "npx mrlm info"]
      : ["host the environment for others", `npx mrlm serve --environments ${environment}${named}`],
    ["look at its curves, episodes and tokens in a browser", `npx mrlm ui ${directory}`],
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
  const [, policy, role] = /^(?:([^/]+)\/)?reward\/(?:([^/]+)\/)?mean$/.exec(metric) ?? [];
  const owner = [policy, role].filter((each) => each !== undefined).join(" as ");
  const name = CURVES[metric] ?? (owner === "" ? metric : `mean reward of ${owner}`);
  return `${name}, steps ${first} to ${last}\n${chart}`;
}

/** Formats a row for each evaluation of each environment; a single environment is in the title instead of a column. */
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
  const title = isOne && first !== undefined ? `${first.environment}, ${tasksOf(first, "held-out tasks")}\n` : "";
  return `${title}${table([["", "step", ...(isOne ? [] : ["environment"]), "greedy accuracy", "sampled reward", "cut answers"], ...rows])}`;
}

/** Describes the selection of the examples, because an improved example is no evidence for the other tasks. */
function selection(examples: readonly BeforeAndAfter[]): string {
  const kinds = examples.map(({ before, after }) =>
    (after.reward ?? 0) > (before.reward ?? 0) ? "improved" : "did not improve",
  );
  if (kinds.length === 2 && kinds[0] === kinds[1]) return `the first two that ${kinds[0]}`;
  return kinds.map((kind) => `the first that ${kind}`).join(", ");
}

type Row = BeforeAndAfter["before"];

const MAX_LINES = 6;
const MAX_COLUMNS = 100;

/** Formats one task with the answers of the first and the last policy; long texts are cut; `mrlm show` prints them in full. */
function beforeAfterText({ environment, task, before, after }: BeforeAndAfter): string {
  const prompt = before.messages.slice(
    0,
    before.messages.findIndex(({ role }) => role === "assistant"),
  );
  const agent = before.agent === "agent" ? "" : `, agent ${before.agent}`;
  const shown = prompt.map((message) => entry(message.role, messageText(message)));
  return [
    `  ${environment}, task ${task}${agent}`,
    ...shown,
    ...answered("before", before),
    ...answered("after", after),
  ].join("\n");
}

/** Returns the last answer; of several turns with the observation before it, because the first prompt is not what it answers. */
function answered(label: string, row: Row): string[] {
  const { messages, turns, error } = row;
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last === undefined)
    return [entry(label, error ? `failed with ${error.code}: ${error.message}` : "(no answer)", note(row))];
  const text = messageText(last) || noText(turns.at(-1));
  if (turns.length < 2) return [entry(label, text, note(row))];
  const from = messages.slice(0, at).findLastIndex(({ role }) => role === "assistant") + 1;
  return [
    entry(label, `turn ${turns.length} of ${turns.length}`),
    ...messages.slice(from, at).map((message) => entry(message.role, messageText(message))),
    entry("assistant", text, note(row)),
  ];
}

function note(row: Row): string {
  return `[${rewardText(row)}${row.turns.at(-1)?.stop_reason === "length" ? ", cut by max_tokens" : ""}]`;
}

function entry(label: string, text: string, after?: string): string {
  const ellipsis = glyph("…", "...");
  const lines = text
    .split("\n")
    .map((line) => (line.length > MAX_COLUMNS ? `${line.slice(0, MAX_COLUMNS)}${ellipsis}` : line));
  const kept = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES - 1), ellipsis] : lines;
  return [...kept, ...(after === undefined ? [] : [after])]
    .map((line, i) => `    ${(i === 0 ? label : "").padEnd(9)} ${line}`)
    .join("\n");
}
