import { MrlmError } from "@mrlm/spec";
import type { Row, StoreConnection } from "./database.ts";
import { assertMeta, assertRun } from "./store-meta.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { runOfPlace, schemaOf } from "./postgres-place.ts";
import { PostgresError, postgresFault } from "./postgres-fault.ts";
import { POSTGRES_SCHEMA } from "./postgres-schema.ts";
import { SCHEMA_VERSION } from "./schema.ts";

/** First and longest pause before a server is tried again, in milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 2_000];
/** Time after which the server ends the transaction of a client that stands still, and so frees its locks. */
const IDLE_MS = 30_000;
/** SQLSTATE of transactions that the server ends because two wait for each other. */
const REPEATABLE = new Set(["40001", "40P01", "55P03"]);
/** Keys of advisory locks in the space of the schema's name. */
const LOG_LOCK = 1;

/** Waits of a connection, in milliseconds. */
export interface PostgresWaits {
  /** For a server that does not answer when the store is opened. */
  readonly connectMs: number;
  /** For one that was lost. */
  readonly reconnectMs: number;
}

/** Schema of a run in a database of Postgres, which a store writes. */
export class PostgresConnection implements StoreConnection {
  readonly database: PostgresDatabase;
  readonly longestMs = 50;
  readonly #place: string;
  readonly #schema: string;
  #waits: number;
  /** Time of the server at the begin of the transaction, and of this process. */
  #began: readonly [server: number, own: number] = [0, 0];

  constructor(place: string, run: string | undefined, { connectMs, reconnectMs }: PostgresWaits) {
    this.#place = place;
    const id = run ?? namedRun(place);
    this.#schema = schemaOf(id);
    this.database = new PostgresDatabase(place, `${setupOf(this.#schema)}; LISTEN ${this.#schema}`);
    this.#waits = connectMs;
    try {
      this.transaction(() => this.#create(id), "log");
      this.#waits = reconnectMs;
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  transaction<T>(work: () => T, lock?: "log"): T {
    return this.#repeated(() => {
      const { database } = this;
      const locked =
        lock === undefined ? "" : `SELECT pg_advisory_xact_lock(hashtext('${this.#schema}'), ${LOG_LOCK});`;
      const clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
      const { rows } = database.query([{ text: `BEGIN; ${locked} ${clock}` }]);
      database.isInTransaction = true;
      try {
        this.#began = [rows[0]?.["now"] as number, performance.now()];
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (!(error instanceof PostgresError) || !error.isLost) database.exec("ROLLBACK");
        throw error;
      } finally {
        database.isInTransaction = false;
      }
    });
  }

  read<T>(work: () => T): T {
    return this.#repeated(work);
  }

  now(): number {
    const [server, own] = this.#began;
    return Math.round(server + performance.now() - own);
  }

  /** Does nothing: a commit of Postgres is on the disk. */
  flush(): void {}

  onChange(listener: () => void): void {
    this.database.onChange(listener);
  }

  close(): void {
    this.database.close();
  }

  #create(run: string): void {
    const { database } = this;
    if (hasTables(database, this.#schema)) {
      assertRun(assertMeta(metaOf(database), this.#place), this.#place, run);
      return;
    }
    database.query([{ text: `CREATE SCHEMA IF NOT EXISTS ${this.#schema}; ${POSTGRES_SCHEMA}` }]);
    const insert = database.prepare("INSERT INTO meta VALUES (?, ?)");
    insert.run("schema", String(SCHEMA_VERSION));
    insert.run("run", run);
  }

  /** Repeats work while its connection is lost. */
  #repeated<T>(work: () => T): T {
    const until = performance.now() + this.#waits;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof PostgresError)) throw error;
        const isRepeatable = error.isLost || REPEATABLE.has(error.sqlState);
        if (!isRepeatable || performance.now() + pauseMs > until) throw postgresFault(this.#place, error);
        // Processes that lost one server come back at different times.
        sleep(pauseMs * (0.5 + Math.random() / 2));
      }
    }
  }
}

/**
 * Connects to the schema of a run to read it; `undefined` where there is none. Throws STORE_UNAVAILABLE where no server answers.
 * @param place with its run
 */
export function openPostgresToRead(place: string): PostgresDatabase | undefined {
  const schema = schemaOfPlace(place);
  const database = new PostgresDatabase(place, readingSetup(schema));
  try {
    if (hasTables(database, schema)) {
      assertMeta(metaOf(database), place);
      return database;
    }
  } catch (error) {
    database.close();
    throw error instanceof PostgresError ? postgresFault(place, error) : error;
  }
  database.close();
  return undefined;
}

/** Returns the schema of the run that a place names. Throws USAGE for a place without a run. */
export function schemaOfPlace(place: string): string {
  return schemaOf(namedRun(place));
}

/** Statements of a connection beside that of the store. */
export function setupBeside(schema: string): string {
  return `SET search_path TO ${schema}; SET client_min_messages = warning`;
}

/** Statements of a connection that only reads: the server refuses every change. A standby accepts them. */
export function readingSetup(schema: string): string {
  return `${setupOf(schema)}; SET default_transaction_read_only = on`;
}

function namedRun(place: string): string {
  const run = runOfPlace(place);
  if (run !== undefined) return run;
  throw new MrlmError("USAGE", "The URL of a store in Postgres names no run.", {
    hint: "Add ?run=ID, with the id of the run's run.json or a name of yours.",
  });
}

function setupOf(schema: string): string {
  return `${setupBeside(schema)}; SET idle_in_transaction_session_timeout = ${IDLE_MS}`;
}

function hasTables(database: PostgresDatabase, schema: string): boolean {
  return database.prepare("SELECT to_regclass(?) AS found").get(`${schema}.meta`)?.["found"] !== null;
}

function metaOf(database: PostgresDatabase): Row {
  const rows = database.prepare("SELECT key, value FROM meta").all();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value])) as Row;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
