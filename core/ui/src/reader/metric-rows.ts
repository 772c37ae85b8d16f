import { statSync } from "node:fs";
import { join } from "node:path";
import { isStore } from "@mrlm/store";
import { MetricsFile, type MetricsRow } from "@mrlm/runtime";

/** Runs whose rows are kept. */
const MAX_KEPT = 50;

const kept = new Map<string, { readonly state: string; readonly rows: readonly MetricsRow[] }>();

/** Returns the rows of metrics.jsonl, which is read again when it has changed. */
export function metricRows(run: string): readonly MetricsRow[] {
  const path = join(run, "metrics.jsonl");
  // An episode store is a file.
  const found = isStore(run) ? undefined : statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const state = `${found.ino} ${found.size} ${found.mtimeMs}`;
  const known = kept.get(run);
  if (known?.state === state) return known.rows;
  const rows = new MetricsFile(path).rows();
  kept.delete(run);
  kept.set(run, { state, rows });
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return rows;
}
