import { resolve } from "node:path";
import { fileFault, type JsonValue, MrlmError, parseJson } from "@mrlm/spec";
import { invalidRow, type Place } from "./invalid-row.ts";
import { readLines } from "./read-lines.ts";

/** Row of a JSONL file. */
export interface JsonlRow {
  readonly value: JsonValue;
  readonly place: Place;
}

/**
 * Reads a whole JSONL file without its empty lines. Rejects with DATA_INVALID if the file cannot be read, a line is not UTF-8 or not JSON, or there is no row.
 * @param option name of the option with the path, for messages
 */
export async function readJsonl(path: string, option: string): Promise<JsonlRow[]> {
  const rows = await Array.fromAsync(jsonlRows(path)).catch((cause: unknown) => {
    if (MrlmError.isInstance(cause)) throw cause;
    throw new MrlmError("DATA_INVALID", `${resolve(path)} cannot be read: ${fileFault(cause)}.`, {
      hint: `\`${option}\` is relative to the configuration; on a server that a run did not start itself, to its --data-root.`,
      cause,
    });
  });
  if (rows.length === 0)
    throw new MrlmError("DATA_INVALID", `${path} has no rows.`, { hint: "It needs one JSON object on each line." });
  return rows;
}

/** Yields the rows of a JSONL file without its empty lines. Rejects with DATA_INVALID for a line that is not UTF-8 or not JSON, and with the errors of the file system. */
export async function* jsonlRows(path: string): AsyncGenerator<JsonlRow, void, undefined> {
  let number = 0;
  for await (const line of readLines(path)) {
    const place: Place = `${path}:${++number}`;
    if (line.trim() !== "") yield { value: parse(line, place), place };
  }
}

function parse(line: string, place: Place): JsonValue {
  try {
    return parseJson(line) as JsonValue;
  } catch {
    throw invalidRow(place, "the line is not JSON", "JSONL has one whole JSON object on each line.");
  }
}
