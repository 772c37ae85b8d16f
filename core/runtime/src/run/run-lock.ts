import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";

/** SQLite's result code of a lock that somebody holds. */
const BUSY = 5;
const LOCK = "lock";

/** A run that nobody else may write to until it is given free. */
export interface RunLock {
  release(): void;
}

/**
 * Takes a run for this process alone. Throws RUN_IN_USE. The lock is one that the operating system holds for an open file, by way of SQLite, so that it is
 * gone with the process, however that ends.
 */
export function lockRun(directory: string): RunLock {
  const database = new DatabaseSync(join(directory, LOCK));
  try {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    // A file system without locks is no reason not to train.
    if ((cause as { readonly errcode?: number }).errcode !== BUSY) return { release: () => undefined };
    throw inUse(directory);
  }
  return { release: () => database.close() };
}

/** Throws RUN_IN_USE where a process holds the lock of a run. Nothing is written. */
export function assertFree(directory: string): void {
  if (isLocked(directory)) throw inUse(directory);
}

/** Whether a process holds the lock of a run. Nothing is written. */
export function isLocked(directory: string): boolean {
  const path = join(directory, LOCK);
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return (error as { readonly errcode?: number }).errcode === BUSY;
  } finally {
    database.close();
  }
}

function inUse(directory: string): MrlmError {
  return new MrlmError(
    "RUN_IN_USE",
    `Another process is training the run ${directory}: two would corrupt its records.`,
  );
}
