import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { STORE_FILE } from "@mrlm/store";

/** Batches in the episode store of a run. */
export interface BatchLog {
  /** Number of logged parts of each batch: 1, and 1 for each refill. By learner and step. */
  readonly parts: ReadonlyMap<string, number>;
  /** Number of cohorts that were played, by learner, step and refill. */
  readonly cohorts: ReadonlyMap<string, number>;
  readonly abandoned: number;
  /** Number of batches of which more could be learnt: none at the end of a run. */
  readonly open: number;
  /** Number of times that a logged batch was taken again. */
  readonly replays: number;
}

/** Reads the log of a run that may have been killed. A copy is read, because SQLite tidies up a store that it opens. */
export function batchLogOf(run: string): BatchLog | undefined {
  if (!existsSync(join(run, STORE_FILE))) return undefined;
  const copy = mkdtempSync(join(tmpdir(), "mrlm-log-"));
  try {
    for (const name of readdirSync(run).filter((each) => each.startsWith(STORE_FILE)))
      cpSync(join(run, name), join(copy, name));
    return read(new DatabaseSync(join(copy, STORE_FILE)));
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Whether a running run has logged a part of a batch and will still play refills of it, by the log of an undisturbed run. */
export function isBetweenRefills(run: string, undisturbed: BatchLog): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(run, STORE_FILE), { readOnly: true });
    return hasUnfinishedBatch(partsOf(database), undisturbed);
  } catch {
    // The run has not made its store yet.
    return false;
  } finally {
    database?.close();
  }
}

/** Whether refills of a batch are missing in a log. */
export function hasUnfinishedBatch(parts: BatchLog["parts"], undisturbed: BatchLog): boolean {
  return [...parts].some(([batch, count]) => count < (undisturbed.parts.get(batch) ?? 0));
}

function partsOf(database: DatabaseSync): Map<string, number> {
  return counts(
    database,
    "SELECT learner || ' ' || steps.step AS name, COUNT(*) AS count FROM steps JOIN takes ON takes.step = steps.key WHERE state <> 'abandoned' GROUP BY 1",
  );
}

function counts(database: DatabaseSync, sql: string): Map<string, number> {
  return new Map(
    database
      .prepare(sql)
      .all()
      .map(({ name, count }) => [name as string, count as number]),
  );
}

function read(database: DatabaseSync): BatchLog | undefined {
  try {
    // A process that was killed at once has made no tables.
    if (database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined) return undefined;
    const totals = counts(
      database,
      "SELECT 'replays' AS name, COALESCE(SUM(replays), 0) AS count FROM steps UNION ALL SELECT state, COUNT(*) FROM steps GROUP BY state",
    );
    const cohorts = counts(
      database,
      "SELECT learner || ' ' || step || ' ' || refill AS name, COUNT(*) AS count FROM cohorts WHERE purpose = 'train' AND state = 'committed' GROUP BY 1",
    );
    return {
      parts: partsOf(database),
      cohorts,
      abandoned: totals.get("abandoned") ?? 0,
      open: totals.get("taken") ?? 0,
      replays: totals.get("replays") ?? 0,
    };
  } finally {
    database.close();
  }
}
