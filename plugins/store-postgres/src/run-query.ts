import type { Client, FieldDef } from "pg";
import { MrlmError } from "@mrlm/spec";
import {
  assertMeta,
  databaseOf,
  invalidQuery,
  type QueryLine,
  type QueryRequest,
  type QueryValue,
  uniqueNames,
  withoutComments,
  withoutPassword,
} from "@mrlm/store/provider";
import { connectPostgres, disconnect, faultOf, storedJson, storedText } from "./client.ts";
import { readingSetup, schemaOfPlace } from "./connection.ts";
import { PostgresError, postgresFault } from "./fault.ts";

const ROWS_AT_ONCE = 1_000;
/** Time after the limit of a query at which its server ends it, and this process no longer waits, in milliseconds. */
const [LATER_MS, LAST_MS] = [1_000, 5_000];
/** Types of columns: bool, bytea, int8, int2, int4, json, float4, float8, numeric. */
const [BOOL, BYTEA, JSON_TEXT, FLOAT4, FLOAT8] = [16, 17, 114, 700, 701];
const WHOLE_OR_DECIMAL = new Set([20, 21, 23, 1_700]);
const NO_RIGHT = "42501";
/** SQLSTATE of errors that are the query's: wrong SQL, values and names, and what a transaction that reads refuses. */
const OF_QUERY = /^(0A|21|22|25|34|42|54)/;

/** SQLSTATE of a query that needs more disk, memory or temporary files than the server has or permits. */
const OF_RESOURCES = new Set(["53100", "53200", "53400"]);

/**
 * Runs one SELECT in a transaction that the server lets only read. A cursor accepts nothing but one SELECT, and no more rows arrive than are written.
 * The functions that the SELECT may call are those that the server permits to the user.
 */
export async function runPostgresQuery(
  { path, sql, rows, seconds }: Pick<QueryRequest, "path" | "sql" | "rows" | "seconds">,
  write: (line: QueryLine) => void,
): Promise<void> {
  const [keyword = ""] = /^\w+/.exec(withoutComments(sql).replace(/^[\s(]+/, "")) ?? [];
  if (withoutComments(sql) === "") throw invalidQuery("The query is empty.", "Write one SELECT.");
  if (!/^(select|with|values|table)/i.test(keyword))
    throw invalidQuery(`The query may only read: it begins with "${keyword}".`, "Write one SELECT.");
  const schema = schemaOfPlace(path);
  const limitMs = Math.ceil(seconds * 1000);
  let client: Client | undefined;
  try {
    client = await connectPostgres(
      { url: databaseOf(path), setup: readingSetup(schema), silenceMs: limitMs + LAST_MS },
      { onLost: (lost) => disconnect(lost) },
    );
    await assertTables(client, schema, path);
    const began = performance.now();
    const taken = (): number => (performance.now() - began) / 1000;
    await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${limitMs + LATER_MS}`);
    // The extended protocol accepts one statement.
    const cursor = { text: `DECLARE result NO SCROLL CURSOR FOR ${sql}`, queryMode: "extended" };
    await client.query(cursor);
    let count = 0;
    for (;;) {
      const fetch = {
        text: `FETCH ${Math.min(ROWS_AT_ONCE, rows + 1 - count)} FROM result`,
        rowMode: "array" as const,
      };
      const part = await client.query<(string | null)[]>({ ...fetch, types: { getTypeParser: () => String } });
      if (count === 0) write({ columns: uniqueNames(part.fields.map(({ name }) => name)) });
      for (const row of part.rows) {
        if (count++ === rows) return write({ isCut: true, seconds: taken() });
        write({ row: row.map((value, i) => toValue(value, part.fields[i] as FieldDef)) });
      }
      if (part.rows.length < ROWS_AT_ONCE) return write({ isCut: false, seconds: taken() });
    }
  } catch (error) {
    throw queryError(path, error);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

/** Throws EPISODE_NOT_FOUND for a run that is not in the database, STORE_INVALID for one of another version. */
async function assertTables(client: Client, schema: string, path: string): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(`SELECT to_regclass('${schema}.meta')::text AS found`);
  if (typeof rows[0]?.found !== "string")
    throw new MrlmError("EPISODE_NOT_FOUND", `${withoutPassword(path)} has no episodes.`, {
      hint: "A run has them from its first iteration on. Its id is in its run.json.",
    });
  const meta = await client.query<{ key: string; value: string }>("SELECT key, value FROM meta");
  assertMeta(Object.fromEntries(meta.rows.map(({ key, value }) => [key, value])), path);
}

/** Returns a value as one of SQLite: numbers and truth values are numbers, everything else is text. */
function toValue(text: string | null, { dataTypeID: type }: FieldDef): QueryValue {
  if (text === null) return null;
  if (type === BOOL) return Number(text === "t");
  if (type === BYTEA) return text.slice(2);
  if (type === JSON_TEXT) return storedJson(text);
  if (type === FLOAT4 || type === FLOAT8) return Number.isFinite(Number(text)) ? Number(text) : text;
  if (!WHOLE_OR_DECIMAL.has(type)) return storedText(text);
  const number = Number(text);
  return !Number.isFinite(number) || (/^-?\d+$/.test(text) && !Number.isSafeInteger(number)) ? text : number;
}

function queryError(path: string, error: unknown): unknown {
  if (MrlmError.isInstance(error)) return error;
  const fault = faultOf(error);
  if (fault.sqlState === NO_RIGHT)
    return invalidQuery(
      `The server refuses the query: ${fault.message}.`,
      "A user who queries needs USAGE of the run's schema, and SELECT of its views and of the table meta.",
      error,
    );
  if (OF_RESOURCES.has(fault.sqlState))
    return new MrlmError("QUERY_LIMIT", `The server ended the query: ${fault.message}.`, {
      hint: "Read fewer rows or columns (WHERE, LIMIT), or raise the limit of the server: disk, memory or temp_file_limit.",
      cause: error,
    });
  if (!OF_QUERY.test(fault.sqlState)) return postgresFault(path, new PostgresError(fault), "query again");
  const reason = fault.message.includes("multiple commands")
    ? "There is text after the end of the first statement"
    : `The query is wrong: ${fault.message}`;
  return invalidQuery(`${reason}.`, "docs/reference/store.md has the views and their columns.", error);
}
