import { constants, type DatabaseSync, type StatementSync } from "node:sqlite";
import { MrlmError } from "@mrlm/spec";
import { openFileToRead } from "./open-to-read.ts";
import type { QueryLine, QueryRequest, QueryValue } from "./query-messages.ts";
import { invalidQuery, uniqueNames, withoutComments } from "./query-text.ts";

/** SQLite's primary result codes for what a query may not do. */
const READ_ONLY = 8;
const UNAUTHORIZED = 23;

/** Everything that a query may do. Functions of SQLite's core neither write nor read files, except one that loads code. */
const ALLOWED = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);
const LOADS_CODE = "load_extension";

/** Runs one SELECT on a file, over a connection that can only read. */
export function runQuery(
  { path, sql, rows }: Pick<QueryRequest, "path" | "sql" | "rows">,
  write: (line: QueryLine) => void,
): void {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const database = openFileToRead(path);
  try {
    // Sorts and temporary tables count as memory, so that a query fills no disk.
    database.exec("PRAGMA temp_store = MEMORY");
    database.setAuthorizer((action, _first, second) =>
      ALLOWED.has(action) && second !== LOADS_CODE ? constants.SQLITE_OK : constants.SQLITE_DENY,
    );
    const statement = prepare(database, sql);
    write({ columns: uniqueNames(statement.columns().map(({ name }) => name)) });
    let count = 0;
    for (const row of statement.iterate() as Iterable<unknown>) {
      if (count++ === rows) return write({ isCut: true, seconds: seconds() });
      write({ row: (row as unknown[]).map(toValue) });
    }
    write({ isCut: false, seconds: seconds() });
  } catch (error) {
    throw queryError(error);
  } finally {
    database.close();
  }
}

function prepare(database: DatabaseSync, sql: string): StatementSync {
  if (withoutComments(sql) === "") throw invalidQuery("The query is empty.", "Write one SELECT.");
  const statement = database.prepare(sql);
  if (withoutComments(sql.slice(statement.sourceSQL.length)) !== "")
    throw invalidQuery(
      "There is text after the end of the first statement.",
      "Write one SELECT. Join several with UNION ALL, or run the command several times.",
    );
  if (statement.columns().length === 0) throw invalidQuery("The query may only read.", "Write one SELECT.");
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}

function toValue(value: unknown): QueryValue {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex");
  return value as string | null;
}

function queryError(error: unknown): unknown {
  const { errcode, message } = error as { readonly errcode?: number; readonly message: string };
  if (MrlmError.isInstance(error) || errcode === undefined) return error;
  const code = errcode & 0xff;
  const reason =
    code === READ_ONLY || code === UNAUTHORIZED || message.includes("load_extension")
      ? `The query may only read: ${message}.`
      : `The query is wrong: ${message}.`;
  return invalidQuery(reason, "docs/reference/store.md has the views and their columns.", error);
}
