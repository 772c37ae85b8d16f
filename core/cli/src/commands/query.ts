import { type ColumnShape, ParquetFile } from "@mrlm/runtime";
import type { QueryResult, QueryValue } from "@mrlm/store";
import type { CommandContext } from "../command-context.ts";
import { table } from "../console/table.ts";
import { glyph } from "../console/unicode.ts";
import type { QueryOptions } from "../declarations/query.ts";
import { outputFile } from "../services/output-file.ts";
import { queryRun } from "../services/query-run.ts";

/** Largest number of rows by default. */
const PRINTED_ROWS = 1_000;
const WRITTEN_ROWS = 1_000_000;

const ROWS_OF_A_GROUP = 10_000;
const LONGEST_CELL = 80;

/** Prints or writes the rows of a SELECT over the episodes of a run. */
export async function query(
  { console }: CommandContext,
  path: string,
  sql: string,
  { parquet, overwrite, limit, timeout: seconds }: QueryOptions,
): Promise<void> {
  const file = parquet === undefined ? undefined : outputFile(parquet, { overwrite: overwrite === true });
  const rows = limit ?? (file === undefined ? PRINTED_ROWS : WRITTEN_ROWS);
  const result = await queryRun(path, sql, { rows, seconds });
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
