import { ends, mean, series, short, type StageRule } from "../finding.ts";

/** Metrics under `reward/` that are no components. */
const TOTALS = new Set(["reward/mean", "reward/std"]);
/** Rise or fall of a mean reward. */
export const CHANGE = 0.05;

/** Whether a series of rewards rises. */
export function risen(values: readonly number[]): boolean {
  const parts = ends(values);
  return parts !== undefined && mean(parts.last) - mean(parts.first) >= CHANGE;
}

/** The total rises while one of its parts falls. */
export const componentDivergence: StageRule = ({ iterations }) => {
  const total = ends(series(iterations, "reward/mean"));
  if (total === undefined || !risen(series(iterations, "reward/mean"))) return undefined;
  const names = [...new Set(iterations.flatMap(({ metrics }) => Object.keys(metrics)))].filter(
    (name) => name.startsWith("reward/") && !TOTALS.has(name),
  );
  const fallen = names.flatMap((name) => {
    const parts = ends(series(iterations, name));
    return parts !== undefined && mean(parts.first) - mean(parts.last) > CHANGE
      ? [`${name.slice("reward/".length)} fell from ${short(mean(parts.first))} to ${short(mean(parts.last))}`]
      : [];
  });
  if (fallen.length === 0) return undefined;
  return {
    rule: "component-divergence",
    severity: "hint",
    what: `The reward rose from ${short(mean(total.first))} to ${short(mean(total.last))} while ${fallen.join(" and ")}: the policy may have found a reward that is not the task.`,
    advice:
      "Read its best episodes (`mrlm show RUN --best`). Change the weights of the components, or cap the one that the policy exploits.",
  };
};
