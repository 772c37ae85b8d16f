import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Database } from "./database.ts";
import { SCHEMA } from "./schema.ts";
import { readMeta } from "./store-meta.ts";
import { isPostgres, runOfPlace, type StorePlace } from "./store-place.ts";
import { storeProviderOf } from "./store-provider.ts";
import { VIEW_SCHEMA } from "./views.ts";
import { assertStore, isCannotOpen, reported } from "./open-database.ts";

/** First bytes of every file of SQLite. */
const SQLITE_HEADER = "SQLite format 3\0";

/** Whether a path names a database itself, and no directory of a run: a file of SQLite, or the URL of Postgres. */
export function isStore(path: string): boolean {
  if (isPostgres(path)) return true;
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(SQLITE_HEADER.length);
    readSync(file, header, 0, header.length, 0);
    return header.toString("latin1") === SQLITE_HEADER;
  } finally {
    closeSync(file);
  }
}

/** A store that is open to be read, also while another process writes it, and where nothing can be written. */
export class ReadStore {
  readonly path: string;
  readonly database: Database;
  readonly #hadLog: boolean;

  /**
   * Throws STORE_INVALID for a file that is no store, STORE_FAILED for one that cannot be opened, STORE_UNAVAILABLE where no server answers, and as
   * `storeProviderOf` does.
   */
  constructor(place: StorePlace) {
    const { path } = place;
    const provider = storeProviderOf(place);
    this.path = path;
    this.#hadLog = existsSync(`${path}-wal`);
    this.database = provider === undefined ? openFileToRead(path) : (provider.openToRead(path) ?? emptyStore());
  }

  /** Runs work on the database; its errors become errors with a code, a reason and a hint. */
  read<T>(work: () => T): T {
    return reported(this.path, work);
  }

  close(): void {
    this.database.close();
    if (!this.#hadLog) tidyAfterRead(this.path);
  }
}

/** Opens a file as `ReadStore` does. */
export function openFileToRead(path: string): DatabaseSync {
  return reported(path, () => {
    const database = opened(path);
    try {
      if (database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined) return empty(database);
      database.exec("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF");
      assertStore(database, path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** A process that was killed may have made the file, and no tables. */
function empty(database: DatabaseSync): DatabaseSync {
  database.close();
  return emptyStore();
}

function emptyStore(): DatabaseSync {
  const tables = new DatabaseSync(":memory:");
  tables.exec(SCHEMA + VIEW_SCHEMA);
  return tables;
}

/** Returns the id of the run that a store belongs to; `undefined` where there is no file. Throws as `ReadStore` does. */
export function runOfStore(path: string): string | undefined {
  if (isPostgres(path)) return runOfPlace(path);
  if (!existsSync(path)) return undefined;
  const database = openFileToRead(path);
  try {
    return reported(path, () => readMeta(database)["run"] as string);
  } finally {
    database.close();
  }
}

function opened(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare("SELECT 1 FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    // SQLite keeps a file beside the store while it is read. Where none can be made, a store without a log is read as it is.
    if (!isCannotOpen(error) || hasLog(path)) throw error;
    return new DatabaseSync(immutable(path), { readOnly: true });
  }
}

/**
 * Removes the empty files that a reader leaves beside a store that no process has open. SQLite removes them when a connection that may
 * write closes.
 */
export function tidyAfterRead(path: string): void {
  if (!existsSync(`${path}-wal`) || hasLog(path)) return;
  try {
    const database = new DatabaseSync(path);
    database.prepare("SELECT 1 FROM sqlite_schema").get();
    database.close();
  } catch {
    // They do no harm.
  }
}

/** URL with which SQLite reads without locks and without a log. It would miss rows that are only in the log. */
function immutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

function hasLog(path: string): boolean {
  const log = `${path}-wal`;
  return existsSync(log) && statSync(log).size > 0;
}
