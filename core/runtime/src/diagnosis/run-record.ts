import { loadConfig } from "../config/load-config.ts";
import type { EpisodeSummary } from "../evaluation/summarise.ts";
import type { MetricsRow } from "../run/metrics-file.ts";
import { RunDirectory } from "../run/run-directory.ts";
import type { CauseCount } from "../run/trajectory-store.ts";

/** One iteration as metrics.jsonl has it. */
export interface IterationRecord {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Wall seconds by phase, with `total` and `engine`. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** The iterations of one stage. */
export interface StageRecord {
  readonly name: string;
  readonly algorithm: string;
  readonly iterations: readonly IterationRecord[];
}

/** One environment's evaluation. */
export interface EvaluationRecord {
  readonly step: number;
  readonly environment: string;
  readonly accuracy: number | null;
  readonly interval: readonly [number, number] | null;
  readonly greedy?: EpisodeSummary | undefined;
  readonly sampled?: EpisodeSummary | undefined;
}

/** An error as run.json has it. */
export interface RunError {
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a run directory says of a run. */
export interface RunRecord {
  readonly directory: string;
  /** That of run.json, or `interrupted` where its process is gone. */
  readonly status: string;
  readonly stages: readonly StageRecord[];
  /** The error that ended the run, as run.json has it. */
  readonly error?: RunError | undefined;
  /** Greedy accuracies, or sampled rewards where nothing was played greedily, by environment in the order of the run. */
  readonly evaluations: readonly EvaluationRecord[];
  /** Why episodes failed and why rewards could not be computed, the most frequent first; empty where episodes are not stored. */
  readonly failures: readonly CauseCount[];
  readonly unscored: readonly CauseCount[];
}

/** Reads a run's directory. Throws RUN_NOT_FOUND for one that is none. */
export function readRun(path: string): RunRecord {
  const run = RunDirectory.open(path);
  const { stages } = loadConfig(run.configPath).config;
  const rows = run.metrics.rows();
  const record = run.readRecord() as { readonly status?: string; readonly error?: RunError | string };
  const store = run.keptTrajectories();
  const [failures, unscored] = [store?.failures() ?? [], store?.unscored() ?? []];
  store?.close();
  // A process that was killed could not record it, but holds the run's lock no more.
  const status = record.status === "running" && !run.isLocked ? "interrupted" : (record.status ?? "unknown");
  const error = typeof record.error === "string" ? { message: record.error } : record.error;
  return {
    directory: run.path,
    status,
    error,
    stages: stagesOf(rows, stages),
    evaluations: rows.filter(({ kind }) => kind === "evaluation").map(toEvaluation),
    failures,
    unscored,
  };
}

/** A stage may share its name with another: a row whose iteration does not go on from the last one begins the next. */
function stagesOf(
  rows: readonly MetricsRow[],
  configured: readonly { readonly name: string; readonly algorithm: string }[],
): StageRecord[] {
  const stages: { name: string; algorithm: string; iterations: IterationRecord[] }[] = [];
  let last = 0;
  for (const row of rows.filter(({ kind }) => kind === "iteration")) {
    const iteration = Number(row["iteration"]);
    if (stages.length === 0 || row.stage !== stages.at(-1)?.name || iteration <= last)
      stages.push({
        name: row.stage,
        algorithm: configured.find(({ name }) => name === row.stage)?.algorithm ?? row.stage,
        iterations: [],
      });
    stages
      .at(-1)
      ?.iterations.push({ step: row.step, metrics: numbers(row["metrics"]), seconds: numbers(row["seconds"]) });
    last = iteration;
  }
  return stages;
}

function toEvaluation(row: MetricsRow): EvaluationRecord {
  const [greedy, sampled] = [row["greedy"], row["sampled"]] as unknown as [
    EpisodeSummary | undefined,
    EpisodeSummary | undefined,
  ];
  return {
    step: row.step,
    environment: String(row["environment"]),
    accuracy: greedy?.accuracy ?? null,
    interval: greedy?.intervals?.accuracy ?? null,
    greedy,
    sampled,
  };
}

function numbers(value: unknown): Record<string, number> {
  return Object.fromEntries(
    Object.entries((value ?? {}) as object).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}
