import type { JsonObject, Tracker, TrackedRow } from "@mrlm/spec";
import type { MatchSummary } from "../evaluation/match-tally.ts";
import type { EvaluationResult } from "../evaluation/evaluate.ts";
import type { RunDirectory } from "../run/run-directory.ts";
import { type MetricsRow, plainMetrics } from "../run/metrics-file.ts";
import type { PreparedRun } from "../prepare/prepare-run.ts";
import type { RunEvent } from "./run-events.ts";

/** Active trackers of a run. */
export interface RunTracking {
  /** Queues the metrics of an event and returns at once. */
  follow(event: RunEvent): void;
  /** Queues the rows of metrics.jsonl for the step after which a resumed run begins. */
  repeat(rows: readonly MetricsRow[]): void;
  /** Waits until all rows have been logged, then closes the trackers. */
  close(status: "finished" | "stopped" | "failed"): Promise<void>;
}

/** Starts the trackers of a run. A tracker that fails is reported once and no longer used: metrics.jsonl has all metrics. */
export async function trackRun(
  { config, trackers }: PreparedRun,
  run: RunDirectory,
  resumedAt: number | undefined,
  onNotice: (text: string) => void,
): Promise<RunTracking> {
  const live = new Map<string, Tracker>();
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      live.delete(name);
      onNotice(
        `Tracker ${name} failed and is no longer used (metrics.jsonl has everything): ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  };
  const about = {
    run: run.path,
    name: config.name,
    config: JSON.parse(JSON.stringify(config)) as JsonObject,
    resumedAt,
  };
  for (const { definition, options } of trackers)
    await attempt(definition.name, async () => void live.set(definition.name, await definition.start(about, options)));
  let queue = Promise.resolve();
  const each = (work: (tracker: Tracker) => Promise<void>): void => {
    for (const name of [...live.keys()])
      queue = queue.then(() => attempt(name, async () => live.get(name) && work(live.get(name) as Tracker)));
  };
  const log = (row: TrackedRow): void => each((tracker) => tracker.log(row));
  return {
    follow(event) {
      const row = rowOf(event);
      if (row !== undefined) log(row);
    },
    repeat(rows) {
      for (const row of rows) {
        const metrics =
          row.kind === "iteration"
            ? withSeconds(row["metrics"] as JsonObject, row["seconds"] as JsonObject)
            : row.kind === "evaluation"
              ? evaluationMetrics(row as unknown as EvaluationResult)
              : undefined;
        if (metrics !== undefined)
          log({ kind: row.kind as TrackedRow["kind"], step: row.step, stage: row.stage, metrics: finite(metrics) });
      }
    },
    async close(status) {
      each((tracker) => tracker.close(status));
      await queue;
    },
  };
}

function rowOf(event: RunEvent): TrackedRow | undefined {
  if (event.kind === "iteration") {
    const { metrics } = plainMetrics(event.report.metrics);
    const seconds = {
      ...event.report.seconds,
      total: event.seconds,
      engine: event.engineSeconds,
      rendering: event.renderingSeconds,
    };
    return { kind: "iteration", step: event.step, stage: event.name, metrics: finite(withSeconds(metrics, seconds)) };
  }
  if (event.kind !== "evaluation") return undefined;
  return {
    kind: "evaluation",
    step: event.step,
    stage: event.label,
    metrics: finite(Object.assign({}, ...event.results.map(evaluationMetrics))),
  };
}

function withSeconds(
  metrics: Readonly<Record<string, unknown>>,
  seconds: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return {
    ...metrics,
    ...Object.fromEntries(Object.entries(seconds).map(([phase, spent]) => [`seconds/${phase}`, spent])),
  };
}

function evaluationMetrics({ environment, greedy, sampled }: EvaluationResult): Record<string, unknown> {
  const of = (kind: string, summary: typeof greedy | undefined): Record<string, unknown> =>
    summary === undefined
      ? {}
      : {
          [`eval/${environment}/${kind}_accuracy`]: summary.accuracy,
          [`eval/${environment}/${kind}_reward`]: summary.reward,
          [`eval/${environment}/${kind}_cut`]: summary.cut,
          ...(summary.undecided === undefined ? {} : { [`eval/${environment}/${kind}_undecided`]: summary.undecided }),
          ...Object.fromEntries(
            (summary.matches ?? []).map((match, _i, all) => [
              `eval/${environment}/${kind}_wins/${match.role}/${opponentName(match, all)}`,
              match.games?.winRate,
            ]),
          ),
        };
  return { ...of("greedy", greedy), ...of("sampled", sampled) };
}

/** Returns the kind of an opponent, and its name where the role has several opponents of the kind. */
function opponentName({ role, opponent }: MatchSummary, all: readonly MatchSummary[]): string {
  const isOnly = all.filter((other) => other.role === role && other.opponent.kind === opponent.kind).length === 1;
  return isOnly ? opponent.kind : `${opponent.kind}:${opponent.name}`;
}

function finite(metrics: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number" && Number.isFinite(entry[1]),
    ),
  );
}
