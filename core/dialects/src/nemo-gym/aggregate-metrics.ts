/** Numbers of a row that are no measurements. */
const OF_THE_ROW = new Set(["seed", "index"]);

/** Returns the mean of each top-level number of the samples that are not masked; true and false count as 1 and 0. */
export function aggregateMetrics(samples: readonly Readonly<Record<string, unknown>>[]): object {
  const columns = new Map<string, number[]>();
  for (const { mask_sample: isMasked, ...sample } of samples)
    for (const [name, value] of isMasked === true ? [] : Object.entries(sample)) {
      const isMeasured = typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
      // NeMo Gym numbers its rows and rollouts by keys with an underscore.
      if (!isMeasured || name.startsWith("_") || OF_THE_ROW.has(name)) continue;
      const column = columns.get(name) ?? [];
      column.push(Number(value));
      columns.set(name, column);
    }
  const metrics = Object.fromEntries(
    Array.from(columns, ([name, values]) => [
      `mean/${name}`,
      values.reduce((sum, one) => sum + one, 0) / values.length,
    ]),
  );
  const mean = metrics["mean/reward"];
  const key_metrics = mean === undefined ? {} : { "mean/reward": mean };
  return { group_level_metrics: [], agent_metrics: metrics, key_metrics };
}
