import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MrlmError } from "@mrlm/spec";

/**
 * Opens a SQLite file for reading. The directory may be read-only, and another process may be writing. If the process that created the file was killed before
 * it created the tables, the result has empty tables. Throws DATA_INVALID for a file that cannot be read.
 * @param schema SQL that creates the tables
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

/**
 * Opens the database if it has tables. Returns `undefined` if it has none or if no file can be created in its folder. The connection may write: a read-only one
 * would not remove its log.
 */
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

/** SQLite result code if it cannot create a file in the folder of the database. */
const CANNOT_OPEN = 14;

function isRefused(error: unknown): boolean {
  return (error as { readonly errcode?: number }).errcode === CANNOT_OPEN;
}

/** Returns a URL with which SQLite reads without locks and without a log. It would miss rows that are only in the log. */
function immutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

function hasLog(path: string): boolean {
  const log = `${path}-wal`;
  return existsSync(log) && statSync(log).size > 0;
}
