import type { EvaluationResult, RunEvent } from "@mrlm/runtime";
import type { JsonObject, Metrics } from "@mrlm/spec";
import type { Console } from "./console.ts";
import { cutAnswers } from "./evaluation-report.ts";
import { withLevel } from "./line-logger.ts";
import { memoryTable } from "./memory-table.ts";
import { decimal, duration, percent } from "./numbers.ts";
import { shownPath } from "./shown-path.ts";
import { type ProgressBar, progressBar } from "./progress-bar.ts";
import type { RunLog } from "./run-log.ts";

/** Metrics of the progress line in order, with short names and units. A metric of unit `share above 0` is omitted while it is 0. */
const SHOWN: readonly (readonly [metric: string, name: string, unit?: "share" | "share above 0"])[] = [
  ["loss/nll", "loss"],
  ["loss/nll_observed", "loss (observed)"],
  ["loss/preference", "loss"],
  ["preference/accuracy", "accuracy"],
  ["reward/mean", "reward"],
  ["groups/without_signal", "equal groups", "share"],
  ["length/cut", "cut answers", "share above 0"],
  ["clip/fraction", "clipped tokens", "share above 0"],
  ["entropy", "entropy"],
  ["optim/grad_norm", "grad norm"],
];

/** Prints the events of a run: a bar for each stage and evaluation, then a line for each result; with `--json` an object for every event but progress. */
export function trainingView(console: Console, log: RunLog): (event: RunEvent) => void {
  const evaluating = progressBar(console, "eval", { isBrief: true });
  let bar: ProgressBar | undefined;
  let learners: readonly string[] = [];
  const print = (line: string): void => {
    evaluating.clear();
    bar?.clear();
    console.note(line);
  };
  return (event) => {
    if (event.kind === "progress") return evaluating.update(event.done, event.total, "episodes");
    console.emit(toJson(event));
    switch (event.kind) {
      case "start":
        print(
          `run directory ${shownPath(event.directory)}${event.resumedAt === undefined ? "" : `, resumed after step ${event.resumedAt}`}`,
        );
        break;
      case "memory":
        log.write(memoryTable(event.memory));
        break;
      case "stage":
        bar?.clear();
        learners = event.learners ?? [];
        print(describeStage(event));
        bar = progressBar(console, event.name.padEnd(4));
        break;
      case "iteration":
        bar?.update(
          event.report.iteration,
          event.iterations,
          `${shownReport(event.report.metrics, learners)}  ${event.seconds.toFixed(2)} s/step${shownWaits(event.report.metrics, learners, event.seconds)}`,
        );
        break;
      case "evaluation":
        for (const result of event.results)
          print(`evaluation (${event.label}, ${duration(event.seconds)}): ${describeResult(result)}`);
        break;
      case "checkpoint":
        break;
      case "notice":
        print(withLevel(event.text));
    }
  };
}

/** Formats the metrics of an iteration: of several learners, each behind the name of its policy. */
function shownReport(metrics: Metrics, learners: readonly string[]): string {
  if (learners.length === 0) return shownMetrics(metrics);
  return learners.map((policy) => `${policy}: ${shownMetrics(metricsOf(metrics, policy))}`).join("  ");
}

/**
 * Formats the age of the tokens and the shares of a step in which training and play waited. All learners of a stage take the same play, so those of the first
 * one are those of all. Returns no text where a batch is played after the one before it was learnt from.
 * @param seconds wall time of the step
 */
function shownWaits(metrics: Metrics, [learner]: readonly string[], seconds: number): string {
  const own = learner === undefined ? metrics : metricsOf(metrics, learner);
  const [age, training, play] = ["offpolicy/lag_mean", "wait/training", "wait/rollouts"].map((name) =>
    plain(own[name]),
  );
  if (age === undefined || training === undefined || play === undefined) return "";
  const share = (waited: number): string => percent(Math.min(1, waited / seconds));
  return `  age ${age.toFixed(1)}  training waits ${share(training)}  play waits ${share(play)}`;
}

function metricsOf(metrics: Metrics, policy: string): Metrics {
  const own = Object.entries(metrics).filter(([name]) => name.startsWith(`${policy}/`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(policy.length + 1), value]));
}

function shownMetrics(metrics: Metrics): string {
  const roles = Object.keys(metrics).flatMap((metric) => /^reward\/([^/]+)\/mean$/.exec(metric)?.[1] ?? []);
  const byRole = roles.map((role) => [`reward/${role}/mean`, `reward of ${role}`] as const);
  const shown = SHOWN.flatMap((row) => (row[0] === "reward/mean" && byRole.length > 0 ? byRole : [row]));
  const known = shown.flatMap(([metric, name, unit]) => {
    const value = plain(metrics[metric]);
    if (value === undefined || (unit === "share above 0" && value === 0)) return [];
    return `${name} ${unit === undefined ? decimal(value) : percent(value)}`;
  });
  return known.join("  ");
}

function plain(value: Metrics[string] | undefined): number | undefined {
  return typeof value === "object" ? value.sum / value.count : value;
}

/** Formats one line with the algorithm and the number of steps. */
function describeStage({
  index,
  stages,
  name,
  iterations,
  learners,
  description,
  until,
  play,
}: Extract<RunEvent, { kind: "stage" }>): string {
  // Omit the algorithm's full name at the beginning of a description.
  const algorithm = description
    .slice(description.indexOf(": ") + 1)
    .trim()
    .replace(/\.$/, "");
  const what = learners === undefined ? algorithm : `${learners.join(" and ")} learn from the same episodes`;
  const steps = `${until === undefined ? "" : "at most "}${iterations} steps`;
  const mode = play === undefined ? "" : `, ${play.mode} with lag ${play.lag}`;
  return `stage ${index + 1} of ${stages}, ${name} (${steps}${mode}): ${what}`;
}

function describeResult({ environment, greedy, sampled }: EvaluationResult): string {
  const cut = cutAnswers({ greedy, sampled });
  const troubles = [
    greedy.failed > 0 ? `${greedy.failed} failed: ${greedy.firstError ?? "see `mrlm show`"}` : "",
    greedy.unscored > 0 ? `${greedy.unscored} unscored: ${greedy.firstUnscored ?? "see `mrlm show`"}` : "",
    greedy.truncated > 0 ? `${greedy.truncated} truncated` : "",
  ].filter((text) => text !== "");
  const reward = `${sampled === undefined ? "" : `, sampled reward ${decimal(sampled.reward)}`}${cut ? `, cut answers ${percent(cut)}` : ""}`;
  return `${environment}: greedy accuracy ${decimal(greedy.accuracy)}${reward}${troubles.length > 0 ? ` (${troubles.join(", ")})` : ""}`;
}

function toJson(event: Exclude<RunEvent, { kind: "progress" }>): JsonObject {
  const { kind, ...rest } = event;
  if (event.kind !== "iteration") return { event: kind, ...(JSON.parse(JSON.stringify(rest)) as JsonObject) };
  const { report, played: _, kind: __, ...place } = event;
  const metrics = Object.fromEntries(
    Object.entries(report.metrics).map(([name, value]) => [name, plain(value) ?? null]),
  );
  return { event: "iteration", ...place, iteration: report.iteration, metrics, phases: { ...report.seconds } };
}
