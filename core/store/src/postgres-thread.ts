// Thread that owns a connection to Postgres: the thread of its store waits for it, so that the operations of all stores are the same synchronous code.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { Client, DatabaseError, type QueryResult, types } from "pg";

/** Connection of a thread. */
export interface PostgresSettings {
  readonly url: string;
  /** Statements after each connection. */
  readonly setup: string;
}

/** Settings of the thread, with its channel to the one that waits. */
export interface PostgresThreadData extends PostgresSettings {
  readonly port: MessagePort;
  /** 1: an answer is in the port. */
  readonly signal: Int32Array<SharedArrayBuffer>;
}

/** Statements of one request. The first one that fails ends it. */
export interface PostgresRequest {
  readonly statements: readonly PostgresStatementText[] | "close";
  /** Whether a lost connection is made anew: not inside a transaction. */
  readonly connects: boolean;
}

export interface PostgresStatementText {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Rows of the last statement, or an error. */
export interface PostgresReply {
  readonly rows: readonly Record<string, unknown>[];
  readonly changes: number;
  readonly error?: { readonly sqlState: string; readonly message: string; readonly isLost: boolean };
}

const CONNECT_MS = 5_000;
/** Silence of a statement after which its connection counts as lost. */
const STATEMENT_MS = 60_000;
/** SQLSTATE of a server that stops, starts or has no room for a connection, and of broken connections. */
const LOST = /^(08|57P0[123]|53300)/;
const LOST_CODES = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT".split(" "),
);
/** Types of columns that are numbers in JavaScript: int8, float8, numeric. */
for (const type of [20, 701, 1_700]) types.setTypeParser(type, Number);

const { url, setup, port, signal } = workerData as PostgresThreadData;
/** Prepared statements of one connection, by their text. Poolers may share a session, so that names are unique. */
const own = randomBytes(6).toString("hex");
const names = new Map<string, string>();
let client: Client | undefined;

port.on("message", (request: PostgresRequest) => void reply(request));

async function reply(request: PostgresRequest): Promise<void> {
  port.postMessage(await answer(request));
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

async function answer({ statements, connects }: PostgresRequest): Promise<PostgresReply> {
  try {
    if (statements === "close") {
      await client?.end();
      return { rows: [], changes: 0 };
    }
    if (client === undefined && !connects) throw new Error("Connection terminated in a transaction");
    client ??= await connected();
    const present = client;
    let result: QueryResult | undefined;
    for (const { text, values } of statements)
      if (values === undefined) result = [await present.query(text)].flat().at(-1);
      else result = await present.query({ name: nameOf(text), text, values: values.map(toParameter) });
    return { rows: (result?.rows ?? []).map(toRow), changes: result?.rowCount ?? 0 };
  } catch (error) {
    const isLost = isLoss(error);
    if (isLost) drop(client);
    const { code = "", message } = error as { readonly code?: string; readonly message: string };
    const sqlState = error instanceof DatabaseError ? code : "";
    return { rows: [], changes: 0, error: { sqlState, message: message || code, isLost } };
  }
}

async function connected(): Promise<Client> {
  const made = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
    application_name: `mrlm ${process.pid}`,
  });
  made.on("error", () => drop(made));
  made.on("notification", () => parentPort?.postMessage("changed"));
  try {
    await made.connect();
    await made.query(setup);
    return made;
  } catch (error) {
    drop(made);
    throw error;
  }
}

/** Ends a connection without a word to its server. */
function drop(lost: Client | undefined): void {
  if (client === lost) client = undefined;
  (
    lost as unknown as { readonly connection?: { readonly stream?: { destroy(): void } } }
  )?.connection?.stream?.destroy();
}

function isLoss(error: unknown): boolean {
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  if (error instanceof DatabaseError) return LOST.test(code);
  return LOST_CODES.has(code) || /connection terminated|timeout|not queryable|closed/i.test(message);
}

function nameOf(text: string): string {
  const known = names.get(text) ?? `${own}_${names.size}`;
  names.set(text, known);
  return known;
}

/** Characters that a text of Postgres cannot hold, and the one that stands for them. */
const UNUSUAL = /[\0\u0001]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function toParameter(value: unknown): unknown {
  if (typeof value === "string")
    return value.replaceAll(UNUSUAL, (unit) => `\u0001${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** A row whose bytes have a buffer of their own: that of a small `Buffer` is shared, and a thread would receive all of it. */
function toRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (value instanceof Uint8Array) row[name] = Uint8Array.from(value);
    else if (typeof value === "string" && value.includes("\u0001"))
      row[name] = value.replaceAll(/\u0001([\da-f]{4})/g, (_, unit: string) =>
        String.fromCharCode(Number.parseInt(unit, 16)),
      );
  return row;
}
