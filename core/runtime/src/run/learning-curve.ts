import type { JsonObject } from "@mrlm/spec";
import type { MetricsRow } from "./metrics-file.ts";

/** Values of one metric over a run. */
export interface LearningCurve {
  /** Name as in metrics.jsonl. */
  readonly metric: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
}

/** Forms of metrics for curves, the most informative first: rewards of one learner, by role and by policy, then preferences and losses. */
const FORMS = [
  [/^reward\/mean$/, /^reward\/[^/]+\/mean$/, /^[^/]+\/reward\/mean$/, /^[^/]+\/reward\/[^/]+\/mean$/],
  [/^preference\/accuracy$/],
  [/^loss\/preference$/],
  [/^loss\/nll$/],
  [/^loss\/nll_observed$/],
];

/**
 * Returns the reward of each iteration: that of the first role or policy that has the most iterations, if rewards are by role or policy. For a run without
 * rewards its preference accuracy or its loss. `undefined` below two points.
 */
export function learningCurve(rows: readonly MetricsRow[]): LearningCurve | undefined {
  const iterations = iterationsOf(rows);
  const names = [...new Set(iterations.flatMap(({ metrics }) => Object.keys(metrics)))];
  for (const forms of FORMS) {
    const curves = forms
      .flatMap((form) => names.find((name) => form.test(name)) ?? [])
      .map((metric): LearningCurve => {
        const points = iterations.flatMap(({ step, metrics }) => {
          const value = metrics[metric];
          return typeof value === "number" ? [{ step, value }] : [];
        });
        return { metric, points };
      });
    const [longest] = curves.toSorted((a, b) => b.points.length - a.points.length);
    if (longest !== undefined && longest.points.length > 1) return longest;
  }
  return undefined;
}

/**
 * Returns the number of the episodes that a run played without learning from any: none had a reward to learn from, and no optimizer step was made. 0 for any other
 * run.
 */
export function episodesNotLearnt(rows: readonly MetricsRow[]): number {
  const entries = iterationsOf(rows).flatMap(({ metrics }) => Object.entries(metrics));
  const isLearnt = entries.some(
    ([name, value]) => typeof value === "number" && /(^|\/)(optim\/.+|reward\/(.+\/)?mean)$/.test(name),
  );
  if (isLearnt) return 0;
  return entries.reduce(
    (sum, [name, value]) => sum + (/(^|\/)episodes\/played$/.test(name) && typeof value === "number" ? value : 0),
    0,
  );
}

function iterationsOf(rows: readonly MetricsRow[]): { readonly step: number; readonly metrics: JsonObject }[] {
  return rows
    .filter(({ kind }) => kind === "iteration")
    .map(({ step, ...row }) => ({ step, metrics: (row["metrics"] as JsonObject | undefined) ?? {} }));
}
