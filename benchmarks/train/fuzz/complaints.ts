import { diagnose, MetricsFile, type MetricsRow, readRun } from "@mrlm/runtime";
import { join } from "node:path";
import type { JsonObject } from "@mrlm/spec";

/** Whether a metric may be absent or null: its count in the row is 0, or it needs another metric that is absent. */
const isExplained = (name: string, row: { readonly metrics: JsonObject; readonly counts: JsonObject }): boolean =>
  row.counts[name] === 0 || (name === "value/explained_variance" && row.metrics[name] === undefined);

/** Returns the faults in a run's record. */
export function recordComplaints(directory: string): string[] {
  const rows = iterationRows(directory);
  const broken = rows.flatMap(({ step, metrics, counts }) =>
    Object.entries(metrics).flatMap(([name, value]) =>
      typeof value === "number" || isExplained(name, { metrics, counts })
        ? []
        : [`step ${step}: ${name} is ${JSON.stringify(value)} with count ${counts[name]}`],
    ),
  );
  const findings = diagnose(readRun(directory)).flatMap(({ rule, what, advice }) =>
    /NaN|undefined|Infinity|null/.test(`${what} ${advice}`) ? [`doctor ${rule}: ${what} ${advice}`] : [],
  );
  const empty = rows.length === 0 ? ["no iteration was recorded"] : [];
  return [...broken, ...findings, ...empty];
}

/** A row of metrics.jsonl that is of an iteration. */
export interface IterationRow {
  readonly step: number;
  readonly stage: string;
  readonly iteration: number;
  readonly metrics: JsonObject;
  readonly counts: JsonObject;
}

export function iterationRows(directory: string): IterationRow[] {
  return new MetricsFile(join(directory, "metrics.jsonl"))
    .rows()
    .filter((row: MetricsRow) => row.kind === "iteration") as unknown as IterationRow[];
}

/** Whether a step of the run changed the policy. The rate of a row is that of its last update: if it is 0, earlier updates may have had another rate. */
export function hasLearnt(rows: readonly IterationRow[]): "yes" | "no" | "perhaps" {
  const moving = rows.filter(({ metrics }) => Number(metrics["optim/grad_norm"] ?? 0) > 0);
  if (moving.length === 0) return "no";
  return moving.some(({ metrics }) => Number(metrics["optim/learning_rate"]) > 0) ? "yes" : "perhaps";
}

/** Returns the steps that lack an expected gradient. Advantages of 0 have no gradient, and neither has a satisfied hinge. */
export function gradientComplaints(rows: readonly IterationRow[]): string[] {
  return rows.flatMap(({ step, metrics }) => {
    const isSupervised = "loss/nll" in metrics || "loss/nll_observed" in metrics;
    const norm = metrics["optim/grad_norm"];
    return isSupervised && metrics["optim/skipped"] === 0 && !(Number(norm) > 0)
      ? [`step ${step}: the gradient norm is ${JSON.stringify(norm)}`]
      : [];
  });
}

/** Names of what an update computes, which neither token budgets nor ranks may change. */
const COMPUTED =
  /^(loss\/|optim\/grad_norm|optim\/critic_grad_norm|kl\/|entropy$|preference\/|logprob\/|ratio\/|clip\/|value\/|return\/)/;

/** Returns the differences of the first iteration, relative to 1 or the value's magnitude. */
export function computedOtherwise(
  one: readonly IterationRow[],
  other: readonly IterationRow[],
  tolerance: number,
  where: string,
): string[] {
  const [first, second] = [one[0]?.metrics ?? {}, other[0]?.metrics ?? {}];
  return Object.entries(first).flatMap(([name, value]) => {
    if (!COMPUTED.test(name) || typeof value !== "number") return [];
    const found = second[name];
    return typeof found === "number" && Math.abs(value - found) <= tolerance * Math.max(1, Math.abs(value))
      ? []
      : [`${name}: ${value} became ${JSON.stringify(found)} ${where}`];
  });
}
