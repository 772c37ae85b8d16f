import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { JsonObject, JsonValue, Metrics } from "@mrlm/spec";
import { syncToDisk, writeAtomically } from "./atomic-write.ts";

/** One line of metrics.jsonl: an iteration, an evaluation, or a measurement of what ends a stage early. */
export interface MetricsRow {
  readonly kind: "iteration" | "evaluation" | "goal";
  /** Iterations of the whole run so far. */
  readonly step: number;
  readonly stage: string;
  readonly [key: string]: JsonValue;
}

/** metrics.jsonl: a row for each iteration, each evaluation and each measurement of a goal, in order. */
export class MetricsFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  append(row: MetricsRow): void {
    appendFileSync(this.#path, `${JSON.stringify(row)}\n`);
  }

  /** Waits until everything is on the disk, so that no checkpoint is later than its metrics. */
  flush(): void {
    if (existsSync(this.#path)) syncToDisk(this.#path);
  }

  /** Rows that are whole; the last one may have been cut by a kill. */
  rows(): MetricsRow[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as MetricsRow];
        } catch {
          return [];
        }
      });
  }

  /** Forgets the rows that a continuation will write again. */
  keep(isKept: (row: MetricsRow) => boolean): void {
    if (!existsSync(this.#path)) return;
    const kept = this.rows().filter(isKept);
    writeAtomically(this.#path, kept.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
}

/** Means divided, with their counts beside them; what is not finite becomes `null`, as JSON has no name for it. */
export function plainMetrics(metrics: Metrics): { readonly metrics: JsonObject; readonly counts: JsonObject } {
  const plain: JsonObject = {};
  const counts: JsonObject = {};
  for (const [name, value] of Object.entries(metrics)) {
    const number = typeof value === "number" ? value : value.sum / value.count;
    plain[name] = Number.isFinite(number) ? number : null;
    if (typeof value !== "number") counts[name] = value.count;
  }
  return { metrics: plain, counts };
}
