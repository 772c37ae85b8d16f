import { extname, resolve } from "node:path";
import { jsonlRows } from "@mrlm/kit/service";
import { fileFault, type JsonValue, MrlmError } from "@mrlm/spec";
import { readParquet } from "./parquet.ts";

/** Reads rows of a JSONL file, or of a Parquet file by its extension. Throws DATA_INVALID with the line that is not valid. */
export async function readRows(path: string, directory: string): Promise<JsonValue[]> {
  const file = resolve(directory, path);
  try {
    return extname(file) === ".parquet"
      ? await readParquet(file)
      : await Array.fromAsync(jsonlRows(file), ({ value }) => value);
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    throw new MrlmError("DATA_INVALID", `The data file ${file} cannot be read: ${fileFault(error)}.`, {
      hint: "Check the path; it is relative to the configuration.",
      cause: error,
    });
  }
}
