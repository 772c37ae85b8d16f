import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

/** Section `stages` of the quickstart's GRPO, without `steps` and `learning_rate`. */
export const GRPO = { algorithm: "grpo@1", prompts_per_step: 32, group_size: 8, mismatch: "truncate" };

/** Largest age of a token in weight versions, of asynchronous runs. */
const LAG = 4;

export type Mode = "sync" | "pipelined" | "async";

/** Section `play` of a mode. */
export function playOf(mode: Mode): object {
  return { mode, ...(mode === "async" && { lag: LAG }) };
}

/** Figures of a run's episode store. */
export interface StoredRun {
  /** Checksum of the newest weights. */
  readonly checksum: string;
  /** Largest age of a token, in weight versions. */
  readonly age: number;
  readonly played: number;
  readonly refused: number;
}

export function storedRun(directory: string): StoredRun {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"), { readOnly: true });
  const one = (sql: string): Record<string, unknown> => database.prepare(sql).get() as Record<string, unknown>;
  const { checksum } = one("SELECT checksum FROM weights ORDER BY key DESC LIMIT 1");
  const { age } = one("SELECT MAX(max_age) AS age FROM v_staleness");
  const { played, refused } = one("SELECT COUNT(*) AS played, SUM(is_refused) AS refused FROM batches");
  database.close();
  return { checksum: String(checksum), age: Number(age), played: Number(played), refused: Number(refused) };
}
