import { type EvaluationResult, PlayTally, type RunEvent } from "@mrlm/runtime";
import type { JsonObject } from "@mrlm/spec";
import type { Console } from "./console.ts";
import { cutAnswers } from "./evaluation-report.ts";
import { withLevel } from "./line-logger.ts";
import { memoryTable } from "./memory-table.ts";
import { decimal, duration, percent } from "./numbers.ts";
import { playProgress } from "./play-progress.ts";
import { shownPath } from "./shown-path.ts";
import { type ProgressBar, progressBar } from "./progress-bar.ts";
import type { RunLog } from "./run-log.ts";
import { plain, StageProgress } from "./stage-progress.ts";

/** Display of a run. `end` removes its line. */
export interface TrainingView {
  (event: RunEvent): void;
  end(): void;
}

/**
 * Prints the events of a run: a bar for each stage and evaluation, then a line for each result; with `--json` an object for every event but progress.
 * @param tally what this process plays
 */
export function trainingView(console: Console, log: RunLog, tally = new PlayTally()): TrainingView {
  const evaluating = progressBar(console, "eval", { isBrief: true });
  let evaluated = playProgress(evaluating, tally);
  let bar: ProgressBar | undefined;
  let stage: StageProgress | undefined;
  const print = (line: string): void => {
    evaluating.clear();
    bar?.clear();
    console.note(line);
  };
  const drawStage = (): void => {
    const shown = stage;
    if (shown !== undefined) bar?.update(shown.done, shown.total, () => shown.text());
  };
  const view = (event: RunEvent): void => {
    if (event.kind === "progress") {
      const { done, total } = event;
      if (done === 0) evaluated = playProgress(evaluating, tally);
      bar?.end();
      if (done < total) return evaluated(done, total);
      evaluating.end();
      stage?.resume();
      return stage !== undefined && stage.done < stage.total ? drawStage() : undefined;
    }
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
        bar?.end();
        print(describeStage(event));
        bar = progressBar(console, event.name.padEnd(4));
        stage = new StageProgress(event, tally);
        drawStage();
        break;
      case "iteration":
        stage?.add(event);
        drawStage();
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
  return Object.assign(view, {
    end() {
      evaluating.end();
      bar?.end();
    },
  });
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
