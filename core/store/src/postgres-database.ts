import type { SQLInputValue } from "node:sqlite";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { MrlmError } from "@mrlm/spec";
import type { Database, Row, Statement, StatementValue } from "./database.ts";
import { databaseOf } from "./postgres-place.ts";
import type { PostgresReply, PostgresRequest, PostgresStatementText, PostgresThreadData } from "./postgres-thread.ts";

/** Longest wait for the thread of a connection, which has shorter limits of its own, in milliseconds. */
const THREAD_MS = 600_000;
/** Parameters of a statement are numbered with 16 bits. */
const MAX_PARAMETERS = 32_000;

/** Error of Postgres, or of the connection to it. */
export class PostgresError extends Error {
  override readonly name = "PostgresError";
  /** Five characters; empty where the server did not send it. */
  readonly sqlState: string;
  /** Whether the connection was lost: all of its open transaction is undone, except where the answer to its end was lost. */
  readonly isLost: boolean;

  constructor({ sqlState, message, isLost }: NonNullable<PostgresReply["error"]>) {
    super(message);
    this.sqlState = sqlState;
    this.isLost = isLost;
  }
}

/** Connection to Postgres whose calls wait for their answers. */
export class PostgresDatabase implements Database {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #statements = new Map<string, PostgresStatement>();
  /** Whether a transaction is open. */
  isInTransaction = false;

  /** @param setup statements after each connection */
  constructor(place: string, setup: string) {
    const isSource = import.meta.url.endsWith(".ts");
    const { port1, port2 } = new MessageChannel();
    const data: PostgresThreadData = { url: databaseOf(place), setup, port: port2, signal: this.#signal };
    this.#port = port1;
    this.#worker = new Worker(new URL(isSource ? "./postgres-thread.ts" : "./postgres-thread.js", import.meta.url), {
      workerData: data,
      transferList: [port2],
      name: "mrlm-postgres",
      env: process.env,
      execArgv: isSource ? ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"] : [],
    });
    this.#worker.unref();
    this.#port.unref();
  }

  /** Calls a listener after each notification. */
  onChange(listener: () => void): void {
    this.#worker.on("message", listener);
    this.#worker.unref();
  }

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = new PostgresStatement(this, sql)));
    return statement;
  }

  exec(sql: string): void {
    this.query([{ text: translated(sql).text }]);
  }

  /** Runs statements in one round trip to the thread; returns the rows of the last one. */
  query(statements: readonly PostgresStatementText[]): PostgresReply & { readonly rows: Row[] } {
    return this.#call({ statements, connects: !this.isInTransaction });
  }

  close(): void {
    this.#call({ statements: "close", connects: false });
    void this.#worker.terminate();
    this.#port.close();
  }

  #call(request: PostgresRequest): PostgresReply & { readonly rows: Row[] } {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage(request);
    if (Atomics.wait(this.#signal, 0, 0, THREAD_MS) === "timed-out")
      throw new MrlmError("INTERNAL", "The thread of a connection to Postgres does not answer.");
    const reply = receiveMessageOnPort(this.#port)?.message as PostgresReply & { readonly rows: Row[] };
    if (reply.error !== undefined) throw new PostgresError(reply.error);
    return reply;
  }
}

class PostgresStatement implements Statement {
  readonly #database: PostgresDatabase;
  readonly #text: string;
  readonly #names: readonly string[];

  constructor(database: PostgresDatabase, sql: string) {
    this.#database = database;
    const { text, names } = translated(sql);
    this.#text = text;
    this.#names = names;
  }

  get(...values: readonly StatementValue[]): Row | undefined {
    return this.all(...values)[0];
  }

  all(...values: readonly StatementValue[]): Row[] {
    return this.#query(values).rows;
  }

  run(...values: readonly StatementValue[]): { readonly changes: number } {
    return this.#query(values);
  }

  /** Inserts the rows by few statements. */
  runEach(rows: readonly (readonly SQLInputValue[])[]): void {
    const [start, end] = this.#text.split(/VALUES \([^)]*\)/) as [string, string];
    const width = rows[0]?.length ?? 1;
    const most = Math.floor(MAX_PARAMETERS / width);
    for (let first = 0; first < rows.length; first += most) {
      const part = rows.slice(first, first + most);
      const lists = part.map((_, row) => `(${Array.from({ length: width }, (_each, i) => `$${row * width + i + 1}`)})`);
      this.#database.query([{ text: `${start}VALUES ${lists.join(", ")}${end}`, values: part.flat().map(owned) }]);
    }
  }

  #query(values: readonly StatementValue[]): ReturnType<PostgresDatabase["query"]> {
    const [first] = values;
    const isNamed = typeof first === "object" && first !== null && !ArrayBuffer.isView(first);
    const list = isNamed ? this.#names.map((name) => (first as Record<string, unknown>)[name]) : values;
    return this.#database.query([{ text: this.#text, values: list.map(owned) }]);
  }
}

/** Bytes with a buffer of their own: a thread receives all of the buffer of an array. */
function owned(value: unknown): unknown {
  return value instanceof Uint8Array ? value.slice() : value;
}

/** Returns a statement in the SQL of Postgres, and the names of its parameters in their order. */
function translated(sql: string): { readonly text: string; readonly names: readonly string[] } {
  const names: string[] = [];
  const text = sql
    .replaceAll(/\/\*postgres (.*?)\*\//g, "$1")
    .replaceAll("CROSS JOIN", "JOIN")
    .replaceAll(/\?|(?<![:\w]):([a-z_]+)/gi, (_match, name: string | undefined) => {
      const known = name === undefined ? -1 : names.indexOf(name);
      return `$${known === -1 ? names.push(name ?? "") : known + 1}`;
    });
  return { text, names };
}
