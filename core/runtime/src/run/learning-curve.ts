import type { JsonObject } from "@mrlm/spec";
import type { MetricsRow } from "./metrics-file.ts";

/** Values of one metric over a run. */
export interface LearningCurve {
  /** Name as in metrics.jsonl. */
  readonly metric: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
}

/** Metrics for curves and short reports, the most informative first; the first one that a run has is shown. */
const METRICS = ["reward/mean", "preference/accuracy", "loss/preference", "loss/nll", "loss/nll_observed"];

/** Returns the reward of each iteration; for a run without rewards its preference accuracy or its loss. `undefined` below two points. */
export function learningCurve(rows: readonly MetricsRow[]): LearningCurve | undefined {
  const iterations = rows.filter(({ kind }) => kind === "iteration");
  for (const metric of METRICS) {
    const points = iterations.flatMap(({ step, ...row }) => {
      const value = (row["metrics"] as JsonObject | undefined)?.[metric];
      return typeof value === "number" ? [{ step, value }] : [];
    });
    if (points.length > 1) return { metric, points };
  }
  return undefined;
}
