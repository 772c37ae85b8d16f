import type { MetricsRow } from "@mrlm/runtime";
import { isObject, type JsonValue } from "@mrlm/spec";
import { metricRows } from "./metric-rows.ts";

/** Values of one number of metrics.jsonl over a run. */
export interface MetricSeries {
  /** `reward/mean` of an iteration, `seconds/sampling`, `eval/math@2/greedy/accuracy`, `goal/accuracy`. */
  readonly name: string;
  readonly kind: MetricsRow["kind"];
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** Bounds of the confidence interval of each value, where the rows have it. */
  readonly low?: readonly number[];
  readonly high?: readonly number[];
}

/** Every number of metrics.jsonl by its name. */
export interface RunMetrics {
  readonly series: readonly MetricSeries[];
  /** Step of the last row. */
  readonly step: number;
}

interface Growing {
  readonly name: string;
  readonly kind: MetricsRow["kind"];
  readonly steps: number[];
  readonly values: number[];
  readonly low: number[];
  readonly high: number[];
}

/** Members of a row that are no measures. */
const NOT_MEASURED = ["kind", "step", "stage", "iteration", "environment", "counts", "notices", "label"];

/** Reads the numbers of a run. @param after only rows of later steps */
export function runMetrics(path: string, after = -1): RunMetrics {
  const series = new Map<string, Growing>();
  const rows = metricRows(path);
  for (const row of rows) if (row.step > after) addRow(series, row);
  return {
    series: Array.from(series.values(), ({ low, high, ...each }) =>
      low.length === each.values.length ? { ...each, low, high } : each,
    ),
    step: rows.at(-1)?.step ?? 0,
  };
}

function addRow(series: Map<string, Growing>, row: MetricsRow): void {
  const { kind, step } = row;
  const prefix = kind === "evaluation" ? `eval/${String(row["environment"])}/` : kind === "goal" ? "goal/" : "";
  for (const [key, value] of Object.entries(row)) {
    if (NOT_MEASURED.includes(key)) continue;
    // Metrics of an iteration have the names that they have in the documents.
    const place = kind === "iteration" && key === "metrics" ? "" : `${prefix}${key}`;
    for (const { name, number, interval } of numbersIn(value, place, intervalsOf(value))) {
      let found = series.get(name);
      if (found === undefined) series.set(name, (found = { name, kind, steps: [], values: [], low: [], high: [] }));
      found.steps.push(step);
      found.values.push(number);
      if (interval !== undefined) {
        found.low.push(interval[0]);
        found.high.push(interval[1]);
      }
    }
  }
}

type Interval = readonly [number, number];

interface FoundNumber {
  readonly name: string;
  readonly number: number;
  readonly interval: Interval | undefined;
}

/** Yields the numbers in a value, with the intervals that lie beside them under the same names. */
function* numbersIn(value: JsonValue | undefined, name: string, intervals: unknown): Generator<FoundNumber> {
  if (typeof value === "number") yield { name, number: value, interval: isInterval(intervals) ? intervals : undefined };
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "intervals") continue;
    yield* numbersIn(member, name === "" ? key : `${name}/${key}`, memberOf(intervals, key));
  }
}

function intervalsOf(value: JsonValue | undefined): unknown {
  return memberOf(value, "intervals");
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function isInterval(value: unknown): value is Interval {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "number");
}
