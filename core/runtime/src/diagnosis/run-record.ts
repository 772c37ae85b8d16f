import { MrlmError } from "@mrlm/spec";
import type { CauseCount } from "@mrlm/store";
import { loadConfig } from "../config/load-config.ts";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import type { EpisodeSummary } from "../evaluation/summarise.ts";
import type { MetricsRow } from "../run/metrics-file.ts";
import { RunDirectory } from "../run/run-directory.ts";

/** Iteration from metrics.jsonl. */
export interface IterationRecord {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Wall seconds by phase, with `total` and `engine`. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly notices?: readonly string[];
}

/** Iterations of one stage. */
export interface StageRecord {
  readonly name: string;
  readonly algorithm: string;
  /** Algorithm of each learner, by policy. Metrics of several learners begin with the policy. */
  readonly learners?: Readonly<Record<string, string>>;
  readonly iterations: readonly IterationRecord[];
}

/** Evaluation of one environment. */
export interface EvaluationRecord {
  readonly step: number;
  readonly environment: string;
  readonly accuracy: number | null;
  readonly interval: readonly [number, number] | null;
  readonly greedy?: EpisodeSummary | undefined;
  readonly sampled?: EpisodeSummary | undefined;
}

/** Error from run.json. */
export interface RunError {
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
}

/** Contents of a run directory that a diagnosis uses. */
export interface RunRecord {
  readonly directory: string;
  /** Whether it is of `mrlm eval`, and so trains nothing. */
  readonly isEvaluation?: boolean;
  /** Status in run.json, or `interrupted` if its process has ended. */
  readonly status: string;
  readonly stages: readonly StageRecord[];
  /** Error in run.json that ended the run. */
  readonly error?: RunError | undefined;
  /** Greedy accuracies, or sampled rewards if there were no greedy episodes, by environment in the order of the run. */
  readonly evaluations: readonly EvaluationRecord[];
  /** Errors of failed episodes and of rewards that could not be computed, the most frequent first; empty if episodes are not stored. */
  readonly failures: readonly CauseCount[];
  readonly unscored: readonly CauseCount[];
  /** Reason why the episodes could not be read. */
  readonly unread?: string;
}

/** Reads a run directory. Throws RUN_NOT_FOUND for any other path. */
export function readRun(path: string): RunRecord {
  const run = RunDirectory.open(path);
  const { config } = loadConfig(run.configPath);
  const rows = run.metrics.rows();
  const record = run.readRecord() as {
    readonly kind?: string;
    readonly status?: string;
    readonly error?: RunError | string;
  };
  // A killed process cannot write its status, but its lock is released.
  const status = record.status === "running" && !run.isLocked ? "interrupted" : (record.status ?? "unknown");
  const error = typeof record.error === "string" ? { message: record.error } : record.error;
  return {
    directory: run.path,
    isEvaluation: record.kind === "evaluation",
    status,
    error,
    stages: new StageRecords(config, rows).all,
    evaluations: rows.filter(({ kind }) => kind === "evaluation").map(toEvaluation),
    ...causesOf(run),
  };
}

/** The causes of lost episodes. The rest of a run is examined where its store cannot be read. */
function causesOf(run: RunDirectory): Pick<RunRecord, "failures" | "unscored" | "unread"> {
  try {
    const reader = run.readEpisodes();
    const causes = { failures: reader?.failures() ?? [], unscored: reader?.unscored() ?? [] };
    reader?.close();
    return causes;
  } catch (error) {
    if (!MrlmError.hasCode(error, "STORE_INVALID", "STORE_FAILED", "PLUGIN_NOT_FOUND")) throw error;
    return { failures: [], unscored: [], unread: error.message };
  }
}

/** Stages of a run that have begun, by the rows of its iterations. */
export class StageRecords {
  readonly #configured: ResolvedConfig["stages"];
  readonly #stages: (StageRecord & { readonly iterations: IterationRecord[] })[] = [];
  #last = 0;

  constructor({ stages }: Pick<ResolvedConfig, "stages">, rows: readonly MetricsRow[]) {
    this.#configured = stages;
    for (const row of rows) this.add(row);
  }

  get all(): readonly StageRecord[] {
    return this.#stages;
  }

  /** Adds a row. Stages may have equal names, so a row whose iteration does not follow the last one begins a new stage. Other rows than iterations are ignored. */
  add(row: MetricsRow): void {
    if (row.kind !== "iteration") return;
    const iteration = Number(row["iteration"]);
    if (row.stage !== this.#stages.at(-1)?.name || iteration <= this.#last) {
      const configured = this.#configured.find(({ name }) => name === row.stage)?.learners ?? {};
      const learners = Object.fromEntries(
        Object.entries(configured).map(([policy, { algorithm }]) => [policy, algorithm]),
      );
      this.#stages.push({
        name: row.stage,
        algorithm: Object.values(learners)[0] ?? row.stage,
        learners,
        iterations: [],
      });
    }
    this.#stages.at(-1)?.iterations.push({
      step: row.step,
      metrics: numbers(row["metrics"]),
      seconds: numbers(row["seconds"]),
      notices: (row["notices"] ?? []) as readonly string[],
    });
    this.#last = iteration;
  }
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
