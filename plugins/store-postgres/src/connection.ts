import { MrlmError } from "@mrlm/spec";
import {
  assertMeta,
  assertRun,
  readMeta,
  runOfPlace,
  SCHEMA_VERSION,
  type StoreConnection,
  type StoreSettings,
} from "@mrlm/store/provider";
import { PostgresDatabase } from "./database.ts";
import { PostgresError, postgresFault } from "./fault.ts";
import { POSTGRES_SCHEMA } from "./schema.ts";

/** First and longest pause before a server is tried again, in milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 2_000];
/** Time after which the server ends the transaction of a client that stands still, and so frees its locks. */
const IDLE_MS = 30_000;
/** SQLSTATE of transactions that the server ends because two wait for each other. */
const REPEATABLE = new Set(["40001", "40P01", "55P03"]);
/** Keys of advisory locks in the space of the schema's name. */
const LOG_LOCK = 1;

/** Longest name of a schema. */
const NAME_CHARACTERS = 63;

/** Schema of a run in a database of Postgres, which a store writes. */
export class PostgresConnection implements StoreConnection {
  readonly database: PostgresDatabase;
  readonly longestMs = 50;
  readonly #place: string;
  readonly #schema: string;
  #waits: number;
  /** Time of the server at the begin of the transaction, and of this process. */
  #began: readonly [server: number, own: number] = [0, 0];

  constructor({ path, run, busyMs = 10_000, reconnectMs = 600_000 }: StoreSettings) {
    this.#place = path;
    const id = run ?? namedRun(path);
    this.#schema = schemaOf(id);
    this.database = new PostgresDatabase(path, `${setupOf(this.#schema)}; LISTEN ${this.#schema}`);
    this.#waits = busyMs;
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
      assertRun(assertMeta(readMeta(database), this.#place), this.#place, run);
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

/** Schema of a run that is only read. A statement is not repeated: its errors are those of a store. */
class ReadDatabase extends PostgresDatabase {
  readonly #place: string;

  constructor(place: string, schema: string) {
    super(place, readingSetup(schema));
    this.#place = place;
  }

  override query(statements: Parameters<PostgresDatabase["query"]>[0]): ReturnType<PostgresDatabase["query"]> {
    try {
      return super.query(statements);
    } catch (error) {
      throw error instanceof PostgresError ? postgresFault(this.#place, error) : error;
    }
  }
}

/**
 * Connects to the schema of a run to read it; `undefined` where there is none. Throws STORE_UNAVAILABLE where no server answers.
 * @param place with its run
 */
export function openPostgresToRead(place: string): PostgresDatabase | undefined {
  const schema = schemaOfPlace(place);
  const database = new ReadDatabase(place, schema);
  try {
    if (hasTables(database, schema)) {
      assertMeta(readMeta(database), place);
      return database;
    }
  } catch (error) {
    database.close();
    throw error;
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

/** Name of the schema that holds the tables of a run. */
function schemaOf(run: string): string {
  const name = `mrlm_${run.toLowerCase().replaceAll(/[^a-z0-9]/g, "_")}`;
  if (name.length <= NAME_CHARACTERS) return name;
  throw new MrlmError("STORE_INVALID", `The id ${run} is too long for the name of a schema.`);
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

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
