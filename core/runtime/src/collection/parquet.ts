import { type JsonValue } from "@mrlm/spec";
import { asyncBufferFromFile, parquetReadObjects, type SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";

/** Shape of a column: a basic type, a list of one thing, or named fields. */
export type ColumnShape =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "float"
  | "double"
  | { readonly list: ColumnShape }
  | { readonly fields: Readonly<Record<string, ColumnShape>> };

const LEAVES: Readonly<Record<string, Partial<SchemaElement>>> = {
  string: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  boolean: { type: "BOOLEAN" },
  int32: { type: "INT32" },
  int64: { type: "INT64" },
  float: { type: "FLOAT" },
  double: { type: "DOUBLE" },
};

/** Writes rows to a Parquet file, batch by batch; every column may be null. */
export class ParquetFile {
  readonly #columns: Readonly<Record<string, ColumnShape>>;
  readonly #writer: ParquetWriter;

  constructor(
    path: string,
    columns: Readonly<Record<string, ColumnShape>>,
    metadata: Readonly<Record<string, string>>,
  ) {
    const schema = [
      { name: "root", num_children: Object.keys(columns).length },
      ...Object.entries(columns).flatMap(([name, shape]) => elements(name, shape)),
    ];
    const kvMetadata = Object.entries(metadata).map(([key, value]) => ({ key, value }));
    this.#columns = columns;
    this.#writer = new ParquetWriter({ writer: fileWriter(path), schema, kvMetadata, createdBy: "mrlm" });
  }

  /** Writes one row group. */
  async write(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    if (rows.length === 0) return;
    const columnData = Object.entries(this.#columns).map(([name, shape]) => ({
      name,
      data: rows.map((row) => (shape === "int64" ? toBigInt(row[name]) : (row[name] ?? null))),
    }));
    await this.#writer.write({ columnData, rowGroupSize: rows.length });
  }

  async close(): Promise<void> {
    await this.#writer.finish();
  }
}

/** Reads all rows of a Parquet file as JSON values. */
export async function readParquet(path: string): Promise<JsonValue[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  return rows.map(toJson);
}

/** Returns the elements of Parquet's flat schema: a group precedes its members, and a list is a group around a repeated group. */
function elements(name: string, shape: ColumnShape): SchemaElement[] {
  if (typeof shape === "string") return [{ name, repetition_type: "OPTIONAL", ...LEAVES[shape] }];
  if ("list" in shape)
    return [
      { name, repetition_type: "OPTIONAL", converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elements("element", shape.list),
    ];
  const fields = Object.entries(shape.fields);
  return [
    { name, repetition_type: "OPTIONAL", num_children: fields.length },
    ...fields.flatMap(([field, inner]) => elements(field, inner)),
  ];
}

function toBigInt(value: unknown): bigint | null {
  return typeof value === "number" ? BigInt(value) : null;
}

/** Converts a value to JSON. The reader returns 64-bit integers as bigints and times as dates. */
function toJson(value: unknown): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value as ArrayLike<unknown>, toJson);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJson(member)]));
  return (value ?? null) as JsonValue;
}
