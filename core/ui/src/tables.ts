import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ColumnShape, ParquetFile } from "@mrlm/runtime";
import type { ListedValue } from "@mrlm/store";

export interface Table {
  readonly columns: readonly { readonly name: string; readonly shape: ColumnShape }[];
  readonly rows: readonly (readonly ListedValue[])[];
}

/** Writes a table as CSV (RFC 4180). A cell that a spreadsheet would run as a formula has an apostrophe before it. */
export function toCsv({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => name), ...rows];
  return lines.map((row) => `${row.map((value) => csvCell(value)).join(",")}\r\n`).join("");
}

/** Writes a table as a Parquet file. */
export async function toParquet({ columns, rows }: Table): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "mrlm-ui-"));
  try {
    const path = join(folder, "table.parquet");
    const file = new ParquetFile(path, Object.fromEntries(columns.map(({ name, shape }) => [name, shape])), {});
    await file.write(rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null]))));
    await file.close();
    return await readFile(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function csvCell(value: ListedValue): string {
  if (value === null) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
