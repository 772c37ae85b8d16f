import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ColumnShape, didYouMean, ParquetFile, RunDirectory } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { type QueryResult, type QueryValue, queryStore, STORE_FILE, VIEWS } from "@mrlm/store";
import { realNumber, wholeNumber } from "../arguments.ts";
import type { CommandContext } from "../command-context.ts";
import { table } from "../console/table.ts";
import { glyph } from "../console/unicode.ts";
import { outputFile } from "../services/output-file.ts";

/** Options of `mrlm query`. */
export interface QueryArguments {
  readonly parquet?: string;
  readonly overwrite?: boolean;
  readonly limit?: string;
  readonly timeout: string;
}

/** Largest number of rows by default. */
const PRINTED_ROWS = 1_000;
const WRITTEN_ROWS = 1_000_000;

const MEGABYTES = 2_048;
const ROWS_OF_A_GROUP = 10_000;
const LONGEST_CELL = 80;

/** Prints or writes the rows of a SELECT over the episodes of a run. */
export async function query(
  { console }: CommandContext,
  path: string,
  sql: string,
  { parquet, overwrite, limit, timeout }: QueryArguments,
): Promise<void> {
  const file = parquet === undefined ? undefined : outputFile(parquet, { overwrite: overwrite === true });
  const rows =
    limit === undefined ? (file === undefined ? PRINTED_ROWS : WRITTEN_ROWS) : wholeNumber(limit, "--limit", 1);
  const seconds = realNumber(timeout, "--timeout");
  const result = await queryStore(storeOf(path), sql, { rows, seconds, megabytes: MEGABYTES }).catch(
    (error: unknown) => {
      throw withNearest(error, sql);
    },
  );
  if (file === undefined) print(result);
  else {
    await writeParquet(file, result);
    console.print(`${result.rows.length} rows in ${parquet}`);
  }
  console.emit({ event: "query", rows: result.rows.length, cut: result.isCut, seconds: result.seconds });
  if (result.isCut)
    console.note(`There are more rows than ${rows}: raise --limit, or add LIMIT and OFFSET to the query.`);

  function print({ columns, rows: found }: QueryResult): void {
    for (const row of found)
      console.emit({ event: "row", row: Object.fromEntries(columns.map((name, i) => [name, row[i] as QueryValue])) });
    console.print(table([columns, ...found.map((row) => row.map(cell))]));
  }
}

/** Returns the store of a run, of one of its checkpoints, or the file itself. Throws RUN_NOT_FOUND or EPISODE_NOT_FOUND. */
function storeOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
  const run = RunDirectory.open(path);
  const store = join(run.path, STORE_FILE);
  if (existsSync(store)) return store;
  throw new MrlmError("EPISODE_NOT_FOUND", `${run.path} has no ${STORE_FILE}.`, {
    hint: "A run has it from its first iteration on. Runs of earlier versions of mrlm keep their episodes in another form.",
  });
}

/** Adds the nearest name of a view or column to an error about an unknown one. */
function withNearest(error: unknown, sql: string): unknown {
  if (!MrlmError.hasCode(error, "QUERY_INVALID")) return error;
  const [, kind, name] = /no such (column|table): "?([\w.]*\w)/.exec(error.message) ?? [];
  if (kind === undefined || name === undefined) return error;
  const named = VIEWS.filter((view) => new RegExp(`\\b${view.name}\\b`, "i").test(sql));
  const candidates =
    kind === "table"
      ? VIEWS.map((view) => view.name)
      : (named.length === 0 ? VIEWS : named).flatMap(({ columns }) => columns.map((column) => column.name));
  const suggestion = didYouMean(name.split(".").at(-1) as string, candidates);
  const hint =
    kind === "table"
      ? `The views are ${candidates.join(", ")}; docs/reference/store.md has their columns.`
      : error.hint;
  return new MrlmError("QUERY_INVALID", `${error.message}${suggestion}`, { hint, cause: error });
}

function cell(value: QueryValue): string {
  const text = value === null ? "" : String(value).replaceAll(/\s+/g, " ");
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}${glyph("…", "...")}` : text;
}

async function writeParquet(path: string, { columns, rows }: QueryResult): Promise<void> {
  const shapes = columns.map((_name, i) => shapeOf(rows.map((row) => row[i] as QueryValue)));
  const file = new ParquetFile(
    path,
    Object.fromEntries(columns.map((name, i) => [name, shapes[i] as ColumnShape])),
    {},
  );
  for (let start = 0; start < rows.length; start += ROWS_OF_A_GROUP) {
    const part = rows.slice(start, start + ROWS_OF_A_GROUP);
    await file.write(
      part.map((row) =>
        Object.fromEntries(columns.map((name, i) => [name, stored(row[i] as QueryValue, shapes[i] as ColumnShape)])),
      ),
    );
  }
  await file.close();
}

/** A column of whole numbers is int64, of numbers double; every other one is text. */
function shapeOf(values: readonly QueryValue[]): ColumnShape {
  const present = values.filter((value) => value !== null);
  if (present.length === 0 || present.some((value) => typeof value === "string")) return "string";
  return present.every((value) => Number.isInteger(value)) ? "int64" : "double";
}

function stored(value: QueryValue, shape: ColumnShape): QueryValue {
  return value === null || shape !== "string" ? value : String(value);
}
