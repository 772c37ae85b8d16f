import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MrlmError } from "@mrlm/spec";

/**
 * Opens a SQLite file to read it: the directory may be read-only, and another process may be writing. Where the process that made the file was killed before it had
 * made the tables, they are empty. Throws DATA_INVALID for a file that cannot be read.
 * @param schema makes the tables
 */
export function openToRead(path: string, schema: string): DatabaseSync {
  try {
    const found =
      readable(path, () => new DatabaseSync(path)) ??
      readable(path, () => new DatabaseSync(immutable(path), { readOnly: true }));
    if (found !== undefined) return found;
    const empty = new DatabaseSync(":memory:");
    empty.exec(schema);
    return empty;
  } catch (cause) {
    const hint = isRefused(cause)
      ? "Copy the run's directory with all of its files to a place in which you may write, and read it there."
      : "It is damaged. Move it away to read what else the run has kept.";
    throw new MrlmError("DATA_INVALID", `${path} cannot be read: ${(cause as Error).message}.`, { hint, cause });
  }
}

/** The database, if it has tables. Where no file can be made beside it, `undefined` stands for another try. A connection that may only read would leave its log behind. */
function readable(path: string, open: () => DatabaseSync): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = open();
    if (database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined) return database;
    database.close();
    return undefined;
  } catch (error) {
    database?.close();
    if (!isRefused(error) || hasLog(path)) throw error;
    return undefined;
  }
}

/** SQLite's result code where it can make no file beside the database. */
const CANNOT_OPEN = 14;

function isRefused(error: unknown): boolean {
  return (error as { readonly errcode?: number }).errcode === CANNOT_OPEN;
}

/** SQLite then reads without locks and without a log: it would miss what is in one. */
function immutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

function hasLog(path: string): boolean {
  const log = `${path}-wal`;
  return existsSync(log) && statSync(log).size > 0;
}
