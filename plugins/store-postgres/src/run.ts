import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import {
  type AnnouncedRun,
  databaseOf,
  type DescribedRun,
  type RunAnnouncement,
  type RunDescription,
  withoutPassword,
} from "@mrlm/store/provider";
import { connectPostgres, disconnect, faultOf } from "./client.ts";
import { schemaOfPlace, setupBeside } from "./connection.ts";
import { PostgresError, postgresFault } from "./fault.ts";

/** Key of the advisory lock that the training process holds, in the space of the schema's name. */
const TRAINING_LOCK = 3;
/** Pause before a lost server is tried again, and longest wait for it at the start and the end of training, in milliseconds. */
const [PAUSE_MS, WAIT_MS] = [1_000, 10_000];
/** SQLSTATE of a schema or table that is missing: no process has trained the run in this database. */
const MISSING = new Set(["42P01", "3F000"]);

type Row = Record<string, unknown>;

/** Connection to the schema of a run, which is made again after a loss. */
class RunConnection {
  readonly #place: string;
  readonly #setup: string;
  readonly #onLost: () => void;
  #client: Promise<Client> | undefined;
  /** The client of `#client`, as soon as it is connected. */
  #connected: Client | undefined;

  constructor(place: string, setup: string, onLost: () => void = () => undefined) {
    this.#place = place;
    this.#setup = setup;
    this.#onLost = onLost;
  }

  /**
   * Runs a statement. Rejects with STORE_UNAVAILABLE or STORE_FAILED; `undefined` where the table is missing.
   * @param waitMs longest wait for a server that does not answer
   * @param stop aborted to end the wait
   */
  async query(
    text: string,
    values: readonly unknown[] = [],
    waitMs = 0,
    stop?: AbortSignal,
  ): Promise<Row[] | undefined> {
    const until = performance.now() + waitMs;
    for (;;) {
      let client: Client | undefined;
      try {
        client = await this.#connection();
        return (await client.query<Row>(text, [...values])).rows;
      } catch (error) {
        const fault = faultOf(error);
        if (MISSING.has(fault.sqlState)) return undefined;
        if (fault.isLost && client !== undefined) this.#drop(client);
        if (!fault.isLost || performance.now() + PAUSE_MS > until || stop?.aborted === true)
          throw postgresFault(this.#place, new PostgresError(fault));
        await pause(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
      }
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = this.#connected = undefined;
    await client?.end().catch(() => undefined);
  }

  #connection(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const settings = { url: databaseOf(this.#place), setup: this.#setup };
    const connecting = connectPostgres(settings, { onLost: (lost) => this.#drop(lost) });
    this.#client = connecting;
    connecting.then(
      (client) => {
        if (this.#client === connecting) this.#connected = client;
      },
      () => {
        if (this.#client === connecting) this.#client = undefined;
      },
    );
    return connecting;
  }

  /** Ends a lost connection, whose locks end with it. It may have been replaced already. */
  #drop(lost: Client): void {
    disconnect(lost);
    if (this.#connected !== lost) return;
    this.#client = this.#connected = undefined;
    this.#onLost();
  }
}

/** Keeps the announcement of a training process in the database of its run. Its connection holds a lock, which ends with the process. */
export class PostgresAnnouncement implements RunAnnouncement {
  readonly #connection: RunConnection;
  readonly #schema: string;
  #announced: AnnouncedRun | undefined;
  #repeating: Promise<void> | undefined;
  #isClosed = false;

  /** @param place database, with its run */
  constructor(place: string) {
    this.#schema = schemaOfPlace(place);
    // Unlike an exclusive lock, a shared one does not wait for a lost connection that the server still counts.
    const lock = `SELECT pg_advisory_lock_shared(hashtext('${this.#schema}'), ${TRAINING_LOCK})`;
    this.#connection = new RunConnection(place, `${setupBeside(this.#schema)}; ${lock}`, () => this.#repeat());
  }

  /** Announces the run: from here on workers play. The announcement is repeated after a loss of the server. */
  async announce(run: AnnouncedRun): Promise<void> {
    this.#announced = run;
    await this.#write(run, WAIT_MS);
  }

  /** Removes the places of the engines, those of a killed process too. Does nothing where the database has no such run. */
  async withdraw(hasEnded: boolean): Promise<void> {
    this.#announced = undefined;
    // It would announce the run again.
    await this.#repeating;
    await this.#connection.query("UPDATE training SET engines = NULL, has_ended = $1", [Number(hasEnded)], WAIT_MS);
  }

  /** Ends the connection, and with it the lock. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#repeating;
    await this.#connection
      .query(`SELECT pg_advisory_unlock_shared(hashtext('${this.#schema}'), ${TRAINING_LOCK})`)
      .catch(() => undefined);
    await this.#connection.close();
  }

  async #write({ config, engines }: AnnouncedRun, waitMs = 0): Promise<void> {
    const rows = await this.#connection.query(
      `INSERT INTO training (key, config, engines, since, has_ended) VALUES (1, $1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0)
       ON CONFLICT (key) DO UPDATE SET config = excluded.config, engines = excluded.engines, since = excluded.since, has_ended = 0`,
      [config, JSON.stringify(engines)],
      waitMs,
    );
    if (rows === undefined)
      throw new MrlmError("STORE_INVALID", "The schema of the run has no table training: an earlier build made it.", {
        hint: "Start a new run.",
      });
  }

  /** Connects again, and announces the run with a new time: a worker may have taken the loss for the end of this process. */
  #repeat(): void {
    if (this.#announced === undefined) return;
    this.#repeating ??= this.#repeated().finally(() => (this.#repeating = undefined));
  }

  async #repeated(): Promise<void> {
    while (!this.#isClosed && this.#announced !== undefined) {
      await pause(PAUSE_MS);
      const run = this.#announced;
      if (run === undefined) return;
      try {
        return await this.#write(run);
      } catch {
        // The store of the run reports a server that is away for long.
      }
    }
  }
}

/** Reads the announcement of a run in a database. */
export class PostgresDescription implements RunDescription {
  readonly #place: string;
  readonly #schema: string;
  readonly #connection: RunConnection;

  /** @param place database, with its run */
  constructor(place: string) {
    this.#place = place;
    this.#schema = schemaOfPlace(place);
    this.#connection = new RunConnection(place, setupBeside(this.#schema));
  }

  /**
   * Rejects with STORE_UNAVAILABLE where the server does not answer, RUN_NOT_FOUND where it has no such run.
   * @param waitMs longest wait for a server that does not answer
   * @param stop aborted to end the wait
   */
  async read({
    waitMs = 0,
    stop,
  }: { readonly waitMs?: number; readonly stop?: AbortSignal } = {}): Promise<DescribedRun> {
    const rows = await this.#connection.query(
      `SELECT config, engines, since, has_ended, EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND classid::bigint = hashtext($1)::bigint & 4294967295 AND objid = ${TRAINING_LOCK} AND objsubid = 2) AS is_locked FROM training`,
      [this.#schema],
      waitMs,
      stop,
    );
    const row = rows?.[0];
    if (row === undefined)
      throw new MrlmError("RUN_NOT_FOUND", `${withoutPassword(this.#place)} has no run of this id.`, {
        hint: "A run is there once its training has begun. Its id and the URL are in its run.json.",
      });
    const isLocked = row["is_locked"] === true;
    const [config, engines] = [row["config"] as string, row["engines"] as string | null];
    if (engines === null || !isLocked) return { config, hasEnded: !isLocked && row["has_ended"] === 1, isLocked };
    const training = { since: row["since"] as number, engines: JSON.parse(engines) as JsonObject };
    return { config, training, hasEnded: false, isLocked };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}
