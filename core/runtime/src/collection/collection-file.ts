import { createWriteStream } from "node:fs";
import { extname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { RecordedRow } from "@mrlm/kit/learning";
import { renameAtomically, syncToDisk } from "../run/atomic-write.ts";
import { recordedColumns } from "./columns.ts";
import type { Journal } from "./journal.ts";
import { ParquetFile } from "./parquet.ts";

/** Rows in one row group of Parquet. */
const ROW_GROUP = 1_000;

/** Writes the rows of a journal as JSONL, or as Parquet if the name ends in `.parquet`. The file appears when it is complete. Returns the number of rows. */
export async function writeCollection(
  path: string,
  journal: Journal,
  metadata: Readonly<Record<string, string>>,
): Promise<number> {
  const temporary = `${path}.writing`;
  const rows =
    extname(path) === ".parquet"
      ? await writeParquet(temporary, journal, metadata)
      : await writeLines(temporary, journal);
  syncToDisk(temporary);
  renameAtomically(temporary, path);
  return rows;
}

async function writeLines(path: string, journal: Journal): Promise<number> {
  let count = 0;
  await pipeline(async function* () {
    for await (const { rows } of journal.entries()) {
      count += rows.length;
      for (const row of rows) yield `${JSON.stringify(row)}\n`;
    }
  }, createWriteStream(path));
  return count;
}

async function writeParquet(
  path: string,
  journal: Journal,
  metadata: Readonly<Record<string, string>>,
): Promise<number> {
  const components = new Set<string>();
  for await (const { rows } of journal.entries())
    for (const row of rows) for (const name of Object.keys(row.components ?? {})) components.add(name);
  const file = new ParquetFile(path, recordedColumns([...components].sort()), metadata);
  let count = 0;
  let group: RecordedRow[] = [];
  const flush = async (): Promise<void> => {
    await file.write(group);
    count += group.length;
    group = [];
  };
  for await (const { rows } of journal.entries()) {
    for (const row of rows) {
      group.push(row);
      if (group.length === ROW_GROUP) await flush();
    }
  }
  await flush();
  await file.close();
  return count;
}
