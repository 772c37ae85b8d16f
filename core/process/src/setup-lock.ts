import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 250;
const SQLITE_BUSY = 5;

/**
 * Runs `work` under an exclusive lock between processes. SQLite locks the file by a lock of the operating system, which is released
 * when the process exits for any reason, so stale locks do not exist.
 *
 * @param waiting - called once if another process holds the lock.
 */
export async function withSetupLock<T>(path: string, waiting: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    for (let attempt = 0; !tryLock(database); attempt += 1) {
      if (attempt === 0) waiting();
      await sleep(POLL_MS);
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
