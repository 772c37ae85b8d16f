import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

/** Section `stages` of the quickstart's GRPO, without `steps` and `learning_rate`. */
export const GRPO = { algorithm: "grpo@1", prompts_per_step: 32, group_size: 8, mismatch: "truncate" };

/** Figures of a run's episode store. */
export interface StoredRun {
  /** Checksum of the newest weights. */
  readonly checksum: string;
  /** Largest age of a token, in weight versions. */
  readonly age: number;
  readonly played: number;
  readonly refused: number;
  /** Groups that were learnt from, in the order of opening. */
  readonly learnt: readonly StoredGroup[];
}

interface StoredGroup {
  /** Index of its task. */
  readonly task: number;
  /** Longest time for which an episode of it waited for the environment. */
  readonly seconds: number;
}

export function storedRun(directory: string): StoredRun {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"), { readOnly: true });
  const all = (sql: string): Record<string, unknown>[] => database.prepare(sql).all();
  const one = (sql: string): Record<string, unknown> => all(sql)[0] as Record<string, unknown>;
  const { checksum } = one("SELECT checksum FROM weights ORDER BY key DESC LIMIT 1");
  const { age } = one("SELECT MAX(max_age) AS age FROM v_staleness");
  const { played, refused } = one("SELECT COUNT(*) AS played, SUM(is_refused) AS refused FROM batches");
  const learnt = all(
    `SELECT task, MAX(seconds_environment) AS seconds FROM v_episodes WHERE purpose = 'train' AND state = 'taken'
     GROUP BY group_key, task ORDER BY group_key`,
  ).map(({ task, seconds }) => ({ task: Number(String(task).split("/")[1]), seconds: Number(seconds) }));
  database.close();
  return { checksum: String(checksum), age: Number(age), played: Number(played), refused: Number(refused), learnt };
}
