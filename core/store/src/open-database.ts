import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { assertMeta, assertRun, type Meta, readMeta } from "./store-meta.ts";
import { transaction } from "./transaction.ts";
import { VIEW_SCHEMA } from "./views.ts";

/** SQLite's primary result codes. */
const BUSY = 5;
const READ_ONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/**
 * Opens a store to write, and creates it where it is missing. Rejects a file that is no store, of another run or schema, and leaves it as it is.
 * Commits survive the end of the process at once, and a loss of power from the next flush on.
 * @param run id of the run; `undefined` for any store: a new one gets an id of its own
 * @param busyMs time that a write waits for another process
 */
export function openDatabase(path: string, run: string | undefined, busyMs: number): DatabaseSync {
  return reported(path, () => {
    const database = new DatabaseSync(path, { timeout: busyMs, enableForeignKeyConstraints: false });
    try {
      if (hasTables(database)) assertRun(assertStore(database, path), path, run);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000");
      transaction(database, () => {
        if (hasTables(database)) return assertRun(assertStore(database, path), path, run);
        database.exec(SCHEMA + VIEW_SCHEMA);
        const insert = database.prepare("INSERT INTO meta VALUES (?, ?)");
        insert.run("schema", String(SCHEMA_VERSION));
        insert.run("run", run ?? randomUUID());
      });
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function hasTables(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema").get() !== undefined;
}

/** Returns the members of `meta`. Throws STORE_INVALID for another database or schema. */
export function assertStore(database: DatabaseSync, path: string): Meta {
  const hasMeta =
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta' AND type = 'table'").get() !== undefined;
  return assertMeta(hasMeta ? readMeta(database) : {}, path);
}

/** Runs an operation of a database; its errors become errors with a code, a reason and a hint. */
export function reported<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(path, error);
  }
}

function storeError(path: string, error: unknown): unknown {
  const code = (error as { readonly errcode?: unknown }).errcode;
  if (typeof code !== "number") return error;
  const [name, reason, hint] = causeOf(code & 0xff);
  return new MrlmError(name, `The episode store ${path} ${reason}: ${(error as Error).message}.`, {
    hint,
    cause: error,
  });
}

/** Whether SQLite could not open a file, or create one beside it. */
export function isCannotOpen(error: unknown): boolean {
  return (error as { readonly errcode?: unknown }).errcode === CANNOT_OPEN;
}

function causeOf(code: number): readonly [name: "STORE_INVALID" | "STORE_FAILED", reason: string, hint: string] {
  if (code === BUSY)
    return ["STORE_FAILED", "stayed locked by another process", "End the other process, then resume the run."];
  if (code === READ_ONLY)
    return ["STORE_FAILED", "cannot be written", "Check the permissions of the file and of its directory."];
  if (code === CANNOT_OPEN)
    return [
      "STORE_FAILED",
      "cannot be opened",
      "Check that its directory exists, and the permissions of both. To read it, copy the directory with all of its files to a place in which you may write.",
    ];
  if (code === FULL)
    return [
      "STORE_FAILED",
      "found no space on the disk",
      "Free space, then resume the run: the last checkpoint is complete.",
    ];
  if (code === CORRUPT || code === NOT_A_DATABASE)
    return [
      "STORE_INVALID",
      "is damaged",
      "Restore it from a copy, or start a new run from the model of the last checkpoint.",
    ];
  return ["STORE_FAILED", "failed", "Resume the run when the cause is removed."];
}
