import type { EvaluationResult, RunEvent } from "@mrlm/runtime";
import type { JsonObject, Metrics } from "@mrlm/spec";
import type { Console } from "./console.ts";
import { memoryTable } from "./memory-table.ts";
import { decimal, duration, percent } from "./numbers.ts";
import { shownPath } from "./shown-path.ts";
import { type ProgressBar, progressBar } from "./progress-bar.ts";

/** Metrics worth a place on the progress line, in this order, with their short names. */
const SHOWN = [
  ["loss/nll", "loss"],
  ["loss/nll_observed", "loss (observed)"],
  ["loss/preference", "loss"],
  ["preference/accuracy", "accuracy"],
  ["reward/mean", "reward"],
  ["groups/without_signal", "no signal"],
  ["clip/fraction", "clipped"],
  ["entropy", "entropy"],
  ["optim/grad_norm", "grad norm"],
] as const;

/** Shows what a run tells: a bar for each stage and each evaluation, then a line for what it found; with `--json` an object for every event but progress. */
export function trainingView(console: Console): (event: RunEvent) => void {
  const evaluating = progressBar(console, "eval");
  let bar: ProgressBar | undefined;
  const say = (line: string): void => {
    evaluating.clear();
    bar?.clear();
    console.note(line);
  };
  return (event) => {
    if (event.kind === "progress") return evaluating.update(event.done, event.total, "episodes");
    console.emit(toJson(event));
    switch (event.kind) {
      case "start":
        say(`run directory ${shownPath(event.directory)}${event.resumedAt === undefined ? "" : `, resumed after step ${event.resumedAt}`}`);
        break;
      case "memory":
        say(memoryTable(event.memory));
        break;
      case "stage":
        bar?.clear();
        bar = progressBar(console, event.name.padEnd(4));
        break;
      case "iteration":
        bar?.update(event.report.iteration, event.iterations, `${shownMetrics(event.report.metrics)}  ${event.seconds.toFixed(2)} s/step`);
        break;
      case "evaluation":
        for (const result of event.results) say(`evaluation (${event.label}, ${duration(event.seconds)}): ${describeResult(result)}`);
        break;
      case "checkpoint":
        break;
      case "notice":
        say(`note: ${event.text}`);
    }
  };
}

function shownMetrics(metrics: Metrics): string {
  const known = SHOWN.filter(([name]) => metrics[name] !== undefined).map(([name, short]) => `${short} ${decimal(plain(metrics[name]))}`);
  return known.join("  ");
}

function plain(value: Metrics[string] | undefined): number | undefined {
  return typeof value === "object" ? value.sum / value.count : value;
}

function describeResult({ environment, greedy, sampled }: EvaluationResult): string {
  const troubles = [greedy.failed > 0 ? `${greedy.failed} failed: ${greedy.firstError ?? "see `mrlm show`"}` : "", greedy.unscored > 0 ? `${greedy.unscored} unscored: ${greedy.firstUnscored ?? "see `mrlm show`"}` : "", greedy.truncated > 0 ? `${greedy.truncated} truncated` : "", greedy.cut ? `${percent(greedy.cut)} of the answers cut by max_tokens` : ""].filter((text) => text !== "");
  const reward = sampled === undefined ? "" : `, sampled reward ${decimal(sampled.reward)}`;
  return `${environment}: greedy accuracy ${decimal(greedy.accuracy)}${reward}${troubles.length > 0 ? ` (${troubles.join(", ")})` : ""}`;
}

function toJson(event: Exclude<RunEvent, { kind: "progress" }>): JsonObject {
  const { kind, ...rest } = event;
  if (event.kind !== "iteration") return { event: kind, ...(JSON.parse(JSON.stringify(rest)) as JsonObject) };
  const { report, kind: _, ...place } = event;
  const metrics = Object.fromEntries(Object.entries(report.metrics).map(([name, value]) => [name, plain(value) ?? null]));
  return { event: "iteration", ...place, iteration: report.iteration, metrics, phases: { ...report.seconds } };
}
