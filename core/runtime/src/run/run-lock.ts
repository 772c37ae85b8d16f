import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";

/** SQLite result code if another connection holds the lock. */
const BUSY = 5;
const LOCK = "lock";

/** Exclusive lock on a run directory. */
export interface RunLock {
  release(): void;
}

/**
 * Locks a run for this process. Throws RUN_IN_USE. The lock is the operating system's lock on an open SQLite file, so it is released when the process ends,
 * for any reason.
 */
export function lockRun(directory: string): RunLock {
  const database = new DatabaseSync(join(directory, LOCK));
  try {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    // Training must work on a file system without locks.
    if ((cause as { readonly errcode?: number }).errcode !== BUSY) return { release: () => undefined };
    throw inUse(directory);
  }
  return { release: () => database.close() };
}

/** Throws RUN_IN_USE if a process holds the lock of a run. Writes nothing. */
export function assertFree(directory: string): void {
  if (isLocked(directory)) throw inUse(directory);
}

/** Whether a process holds the lock of a run. Writes nothing. */
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
