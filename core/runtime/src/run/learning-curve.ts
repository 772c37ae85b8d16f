import type { JsonObject } from "@mrlm/spec";
import type { MetricsRow } from "./metrics-file.ts";

/** Values of one metric over a run. */
export interface LearningCurve {
  /** Name as in metrics.jsonl. */
  readonly metric: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
}

/** Metrics for curves and short reports, the most informative first; the first one that a run has is shown. */
const METRICS = [
  /^reward\/mean$/,
  /^reward\/[^/]+\/mean$/,
  /^preference\/accuracy$/,
  /^loss\/preference$/,
  /^loss\/nll$/,
  /^loss\/nll_observed$/,
];

/**
 * Returns the reward of each iteration, of the first role if rewards are by role; for a run without rewards its preference accuracy or its loss.
 * `undefined` below two points.
 */
export function learningCurve(rows: readonly MetricsRow[]): LearningCurve | undefined {
  const iterations = rows.filter(({ kind }) => kind === "iteration");
  const names = new Set(iterations.flatMap((row) => Object.keys((row["metrics"] as JsonObject | undefined) ?? {})));
  for (const metric of METRICS.flatMap((form) => [...names].find((name) => form.test(name)) ?? [])) {
    const points = iterations.flatMap(({ step, ...row }) => {
      const value = (row["metrics"] as JsonObject | undefined)?.[metric];
      return typeof value === "number" ? [{ step, value }] : [];
    });
    if (points.length > 1) return { metric, points };
  }
  return undefined;
}
