import { Client, DatabaseError, types } from "pg";
import type { PostgresFault } from "./fault.ts";

/** Connection of a process. */
export interface PostgresSettings {
  readonly url: string;
  /** Statements after each connection. */
  readonly setup: string;
  /** Silence of a statement after which its connection counts as lost, in milliseconds (default 60,000). */
  readonly silenceMs?: number;
}

/** Listeners of a connection. */
export interface PostgresEvents {
  /** The connection was lost. */
  onLost(client: Client): void;
  onNotification?(): void;
}

const CONNECT_MS = 5_000;
const SILENCE_MS = 60_000;
/** SQLSTATE of a server that stops, starts or has no room for a connection, and of broken connections. */
const LOST = /^(08|57P0[123]|53300)/;
const LOST_CODES = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT".split(" "),
);
/** Types of columns that are numbers in JavaScript: int8, float8, numeric. */
for (const type of [20, 701, 1_700]) types.setTypeParser(type, Number);
/** JSON stays text, as in a file. */
types.setTypeParser(114, storedJson);

/** Connects, and runs the setup. Rejects with an error of the driver or of the server. */
export async function connectPostgres(
  { url, setup, silenceMs = SILENCE_MS }: PostgresSettings,
  { onLost, onNotification }: PostgresEvents,
): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: silenceMs,
    keepAlive: true,
    application_name: `mrlm ${process.pid}`,
  });
  client.on("error", () => onLost(client));
  if (onNotification !== undefined) client.on("notification", onNotification);
  try {
    await client.connect();
    await client.query(setup);
    return client;
  } catch (error) {
    disconnect(client);
    throw error;
  }
}

/** Ends a connection without a word to its server. */
export function disconnect(client: Client): void {
  (
    client as unknown as { readonly connection?: { readonly stream?: { destroy(): void } } }
  ).connection?.stream?.destroy();
}

/** Describes an error of the driver or of the server. */
export function faultOf(error: unknown): PostgresFault {
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  const isOfServer = error instanceof DatabaseError;
  const isLost = isOfServer
    ? LOST.test(code)
    : LOST_CODES.has(code) || /connection terminated|timeout|not queryable|closed/i.test(message);
  return { sqlState: isOfServer ? code : "", message: message || code, isLost };
}

/** Characters that a text of Postgres cannot hold, and the one that stands for them. */
const UNUSUAL = /[\0\u0001]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Returns a text as Postgres can hold it. */
export function storableText(text: string): string {
  return text.replaceAll(UNUSUAL, (unit) => `\u0001${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns the text that {@link storableText} made storable. */
export function storedText(text: string): string {
  if (!text.includes("\u0001")) return text;
  return text.replaceAll(/\u0001([\da-f]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)));
}

/** Returns the JSON of which `as_json` of the schema made one that Postgres can read. */
export function storedJson(json: string): string {
  return json.includes(String.raw`\u0001`)
    ? json.replaceAll(/(?<!\\)((?:\\\\)*)\\u0001([\da-f]{4})/g, String.raw`$1\u$2`)
    : json;
}
