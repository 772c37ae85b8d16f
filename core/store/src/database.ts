import type { SQLInputValue, SQLOutputValue } from "node:sqlite";

/** Row of a result, by the names of its columns. */
export type Row = Record<string, SQLOutputValue>;

/** Prepared statement. Values are positional, or one object with the values of its names. */
export interface Statement {
  get(...values: readonly StatementValue[]): Row | undefined;
  all(...values: readonly StatementValue[]): Row[];
  run(...values: readonly StatementValue[]): { readonly changes: number | bigint };
  /** Yields rows one by one. Left out where all of them arrive at once. */
  iterate?(...values: readonly StatementValue[]): Iterable<Row>;
  /** Runs the statement for each list of values. Left out where `run` costs no round trip. */
  runEach?(rows: readonly (readonly SQLInputValue[])[]): void;
}

export type StatementValue = SQLInputValue | Readonly<Record<string, SQLInputValue>>;

/**
 * Connection of a database, synchronous. `DatabaseSync` of SQLite is one. Statements are written in the SQL that SQLite and Postgres share; a comment
 * that begins with `postgres` is a part of the statement in Postgres alone.
 */
export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

/** Database that a store writes. */
export interface StoreConnection {
  readonly database: Database;
  /** Time after which a divided transaction ends, in milliseconds: others may then write. */
  readonly longestMs: number;
  /**
   * Runs work in a transaction. It may run several times, where a connection is lost or two transactions wait for each other: the work sets what it
   * changes outside the database anew each time.
   * @param lock `log`: no two of these run at a time
   */
  transaction<T>(work: () => T, lock?: "log"): T;
  /** Runs work that only reads. It may run several times. */
  read<T>(work: () => T): T;
  /** Milliseconds since 1970, by the clock of the database, in a transaction. */
  now(): number;
  /** Waits until everything is on the disk. */
  flush(): void;
  /** Calls a listener after changes of other processes, as far as the database reports them. */
  onChange?(listener: () => void): void;
  close(): void;
}

/** Runs an INSERT for each list of values. */
export function insertEach(statement: Statement, rows: readonly (readonly SQLInputValue[])[]): void {
  if (statement.runEach !== undefined) return statement.runEach(rows);
  for (const row of rows) statement.run(...row);
}

/** Returns the rows of a statement, one by one where the database can. */
export function iterated(statement: Statement, values: readonly SQLInputValue[]): Iterable<Row> {
  return statement.iterate?.(...values) ?? statement.all(...values);
}
