import type { SQLInputValue } from "node:sqlite";
import { type Database, databaseOf, type Row, type Statement, type StatementValue } from "@mrlm/store/provider";
import { PostgresCaller } from "./caller.ts";
import type { PostgresReply, PostgresStatementText } from "./thread.ts";
import { postgresSql } from "./sql.ts";

/** Parameters of a statement are numbered with 16 bits. */
const MAX_PARAMETERS = 32_000;

/** Connection to Postgres whose calls wait for their answers. */
export class PostgresDatabase implements Database {
  readonly #thread: PostgresCaller;
  readonly #statements = new Map<string, PostgresStatement>();
  /** Whether a transaction is open. */
  isInTransaction = false;

  /** @param setup statements after each connection */
  constructor(place: string, setup: string) {
    this.#thread = PostgresCaller.open({ url: databaseOf(place), setup });
  }

  /** Calls a listener after each notification. */
  onChange(listener: () => void): void {
    this.#thread.onChange(listener);
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
    return this.#thread.call({ statements, connects: !this.isInTransaction });
  }

  close(): void {
    this.#thread.close();
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
  const text = postgresSql(sql)
    .replaceAll("CROSS JOIN", "JOIN")
    .replaceAll(/\?|(?<![:\w]):([a-z_]\w*)/gi, (_match, name: string | undefined) => {
      const known = name === undefined ? -1 : names.indexOf(name);
      return `$${known === -1 ? names.push(name ?? "") : known + 1}`;
    });
  return { text, names };
}
