import { existsSync } from "node:fs";
import { openDatabase, reported } from "./open-database.ts";

/** Longest wait for another process that writes. Its transactions take milliseconds. */
const BUSY_MS = 2_000;

/**
 * Throws STORE_INVALID or STORE_FAILED where the store of a run could not be opened to write, and changes no row. A store that does not exist
 * has no fault.
 * @param run id of the run
 */
export function checkEpisodeStore(path: string, run: string): void {
  if (!existsSync(path)) return;
  const database = openDatabase(path, run, BUSY_MS);
  try {
    // SQLite opens a read-only file without an error, and begins transactions that only read.
    reported(path, () => database.exec("UPDATE meta SET value = value WHERE FALSE"));
  } finally {
    database.close();
  }
}
