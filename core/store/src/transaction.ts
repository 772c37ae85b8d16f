import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in one transaction. `BEGIN IMMEDIATE` takes the write lock first, so that no read inside is out of date. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
