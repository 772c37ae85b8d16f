import { diagnose, type Finding, learningCurve, loadConfig, readRun, RunDirectory } from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { isStore } from "@mrlm/store";
import { evaluationTables, type ShownTable } from "../evaluation-tables.ts";
import { metricRows } from "./metric-rows.ts";
import { episodeChoices } from "./run-episodes.ts";

/** State of a run, as the list of runs shows it. */
export interface RunSummary {
  readonly name: string;
  /** `running`, `finished`, `stopped`, `failed`, or `interrupted` where the process has ended without a word; `damaged` if it cannot be read; `store`: an episode store that belongs to no run. */
  readonly status: string;
  readonly started: string | null;
  readonly ended: string | null;
  readonly stage: string | null;
  /** Step of the last row of metrics. */
  readonly step: number;
  /** Steps of all stages by the configuration; `null` where a stage states none. */
  readonly planned: number | null;
  readonly seed: number | null;
  /** Reward of each iteration, or what the run measures in its place: the last {@link CURVE_POINTS} points. */
  readonly curve: {
    readonly metric: string;
    readonly steps: readonly number[];
    readonly values: readonly number[];
  } | null;
  readonly error: { readonly code: string | null; readonly message: string; readonly hint: string | null } | null;
}

/** Summary of a run with what its page shows beside curves. */
export interface RunDetail extends RunSummary {
  readonly directory: string;
  readonly environments: readonly string[];
  readonly stages: readonly StageSpan[];
  readonly findings: readonly Finding[];
  /** Tables of an evaluation; empty for a run that trains. */
  readonly evaluation: readonly ShownTable[];
  /** Reason why there are no findings. */
  readonly unexamined: string | null;
  /** Versions, times and changes in run.json. */
  readonly record: JsonObject;
}

/** Steps of a stage, as metrics.jsonl has them. */
export interface StageSpan {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const CURVE_POINTS = 120;

/** Reads the state of a run. A run that is damaged has an error in place of its state. */
export function runSummary(path: string): RunSummary {
  if (isStore(path)) return { ...UNKNOWN, status: "store", error: null };
  try {
    const run = RunDirectory.open(path);
    const record = run.readRecord();
    const rows = metricRows(path);
    const last = rows.at(-1);
    const curve = learningCurve(rows);
    const points = curve?.points.slice(-CURVE_POINTS) ?? [];
    const status = String(record["status"] ?? "unknown");
    return {
      name: String(record["name"] ?? ""),
      status: status === "running" && !run.isLocked ? "interrupted" : status,
      started: text(record["started"]),
      ended: text(record["ended"]),
      stage: last === undefined ? null : last.stage,
      step: last?.step ?? 0,
      // A goal may have ended a stage early.
      planned: status === "finished" ? (last?.step ?? 0) : plannedSteps(run.configPath),
      seed: typeof record["seed"] === "number" ? record["seed"] : null,
      curve:
        curve === undefined
          ? null
          : { metric: curve.metric, steps: points.map(({ step }) => step), values: points.map(({ value }) => value) },
      error: errorOf(record["error"]),
    };
  } catch (error) {
    return { ...UNKNOWN, status: "damaged", error: described(error) };
  }
}

/** Reads a run for its page. Throws RUN_NOT_FOUND or DATA_INVALID. */
export function runDetail(path: string): RunDetail {
  if (isStore(path))
    return {
      ...runSummary(path),
      directory: path,
      environments: episodeChoices(path)["environment"] ?? [],
      stages: [],
      findings: [],
      evaluation: [],
      unexamined: "it is an episode store and belongs to no run",
      record: {},
    };
  const run = RunDirectory.open(path);
  const { environments, results, comparisons, ...record } = run.readRecord();
  return {
    ...runSummary(path),
    directory: path,
    environments: Object.keys((environments ?? {}) as JsonObject),
    stages: spansOf(path),
    evaluation: evaluationTables({
      kind: record["kind"] ?? null,
      results: results ?? [],
      comparisons: comparisons ?? [],
    }),
    ...findingsOf(path),
    record,
  };
}

const UNKNOWN: Omit<RunSummary, "status" | "error"> = {
  name: "",
  started: null,
  ended: null,
  stage: null,
  step: 0,
  planned: null,
  seed: null,
  curve: null,
};

function plannedSteps(configPath: string): number | null {
  try {
    const { stages } = loadConfig(configPath).config;
    const steps = stages.map(({ learners }) => Object.values(learners)[0]?.options["steps"]);
    return steps.every((each) => typeof each === "number") ? steps.reduce((sum, each) => sum + each, 0) : null;
  } catch {
    // A configuration of another version. The rest of the run can be shown.
    return null;
  }
}

function spansOf(path: string): StageSpan[] {
  const spans: { name: string; from: number; to: number }[] = [];
  for (const { kind, stage, step } of metricRows(path)) {
    if (kind !== "iteration") continue;
    const last = spans.at(-1);
    if (last !== undefined && last.name === stage) last.to = step;
    else spans.push({ name: stage, from: step, to: step });
  }
  return spans;
}

function findingsOf(path: string): Pick<RunDetail, "findings" | "unexamined"> {
  try {
    return { findings: diagnose(readRun(path)), unexamined: null };
  } catch (error) {
    return { findings: [], unexamined: described(error).message };
  }
}

function errorOf(value: unknown): RunSummary["error"] {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return { code: null, message: value, hint: null };
  const { code, message, hint } = value as JsonObject;
  return { code: text(code), message: String(message), hint: text(hint) };
}

function described(error: unknown): NonNullable<RunSummary["error"]> {
  if (MrlmError.isInstance(error)) return { code: error.code, message: error.message, hint: error.hint ?? null };
  return { code: null, message: error instanceof Error ? error.message : String(error), hint: null };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
