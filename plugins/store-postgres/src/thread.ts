// Thread that owns a connection to Postgres: the thread of its store waits for it, so that the operations of all stores are the same synchronous code.
import { randomBytes } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Client, QueryResult } from "pg";
import { connectPostgres, disconnect, faultOf, type PostgresSettings, storableText, storedText } from "./client.ts";
import type { PostgresFault } from "./fault.ts";

/** Channel of the thread to the one that waits. */
export interface PostgresThreadData {
  readonly port: MessagePort;
  /** 1: an answer is in the port. */
  readonly signal: Int32Array<SharedArrayBuffer>;
}

/** Settings of the next connections; nothing is answered. */
export interface PostgresOpening {
  readonly settings: PostgresSettings;
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
  readonly error?: PostgresFault;
}

const { port, signal } = workerData as PostgresThreadData;
/** Prepared statements of one connection, by their text. Poolers may share a session, so that names are unique. */
let own: string;
const names = new Map<string, string>();
let settings: PostgresSettings;
let client: Client | undefined;

port.on("message", (message: PostgresOpening | PostgresRequest) => {
  if ("settings" in message) ({ settings } = message);
  else void reply(message);
});

async function reply(request: PostgresRequest): Promise<void> {
  port.postMessage(await answer(request));
  Atomics.store(signal, 0, 1);
  Atomics.notify(signal, 0);
}

async function answer({ statements, connects }: PostgresRequest): Promise<PostgresReply> {
  try {
    if (statements === "close") {
      const ended = client;
      client = undefined;
      await ended?.end();
      return { rows: [], changes: 0 };
    }
    if (client === undefined && !connects) throw new Error("Connection terminated in a transaction");
    const present = (client ??= await connected());
    let result: QueryResult | undefined;
    for (const { text, values } of statements)
      if (values === undefined) result = [await present.query(text)].flat().at(-1);
      else result = await present.query({ name: nameOf(text), text, values: values.map(toParameter) });
    return { rows: (result?.rows ?? []).map(toRow), changes: result?.rowCount ?? 0 };
  } catch (thrown) {
    const error = faultOf(thrown);
    if (error.isLost && client !== undefined) drop(client);
    return { rows: [], changes: 0, error };
  }
}

async function connected(): Promise<Client> {
  own = randomBytes(6).toString("hex");
  names.clear();
  return connectPostgres(settings, { onLost: drop, onNotification: () => parentPort?.postMessage("changed") });
}

function drop(lost: Client): void {
  if (client === lost) client = undefined;
  disconnect(lost);
}

function nameOf(text: string): string {
  const known = names.get(text) ?? `${own}_${names.size}`;
  names.set(text, known);
  return known;
}

function toParameter(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** A row whose bytes have a buffer of their own: that of a small `Buffer` is shared, and a thread would receive all of it. */
function toRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (value instanceof Uint8Array) row[name] = Uint8Array.from(value);
    else if (typeof value === "string") row[name] = storedText(value);
  return row;
}
