import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { JsonObject, JsonValue, Metrics } from "@mrlm/spec";
import { syncToDisk, writeAtomically } from "./atomic-write.ts";
import { reading } from "./read-failure.ts";

/** One line of metrics.jsonl: an iteration, an evaluation, or a measurement of a stage's goal. */
export interface MetricsRow {
  readonly kind: "iteration" | "evaluation" | "goal";
  /** Iterations of the whole run so far. */
  readonly step: number;
  readonly stage: string;
  readonly [key: string]: JsonValue;
}

/** File metrics.jsonl with a row for each iteration, evaluation and goal measurement, in order. */
export class MetricsFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  append(row: MetricsRow): void {
    appendFileSync(this.#path, `${JSON.stringify(row)}\n`);
  }

  /** Waits until all rows are on the disk. Called before each checkpoint, so that no checkpoint is newer than its metrics. */
  flush(): void {
    if (existsSync(this.#path)) syncToDisk(this.#path);
  }

  /** Returns the complete rows. The last line may be cut if the process was killed. Throws DATA_INVALID if the file cannot be read. */
  rows(): MetricsRow[] {
    if (!existsSync(this.#path)) return [];
    return reading(this.#path, () => readFileSync(this.#path, "utf8"))
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as MetricsRow];
        } catch {
          return [];
        }
      });
  }

  /** Removes the rows that a resumed run will write again. */
  keep(isKept: (row: MetricsRow) => boolean): void {
    if (!existsSync(this.#path)) return;
    const kept = this.rows().filter(isKept);
    writeAtomically(this.#path, kept.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
}

/** Converts metrics to JSON: means as numbers, with their counts in a separate object; values that are not finite as `null`, since JSON cannot represent them. */
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
