import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type JsonValue, MrlmError } from "@mrlm/spec";
import { invalidRow, type Place } from "./invalid-row.ts";

/** A line of a JSONL file. */
export interface JsonlRow {
  readonly value: JsonValue;
  readonly place: Place;
}

/**
 * Reads a JSONL file whole; empty lines are skipped. DATA_INVALID where it cannot be read, a line is no JSON, or there is none.
 * @param option name of the option that the path comes from, for messages
 */
export async function readJsonl(path: string, option: string): Promise<JsonlRow[]> {
  const rows = (await textOf(path, option))
    .split("\n")
    .map((line, i) => ({ line: line.trim(), place: `${path}:${i + 1}` as const }))
    .filter(({ line }) => line !== "")
    .map(({ line, place }) => ({ value: parse(line, place), place }));
  if (rows.length === 0) throw new MrlmError("DATA_INVALID", `${path} has no rows.`, { hint: "It needs one JSON object on each line." });
  return rows;
}

async function textOf(path: string, option: string): Promise<string> {
  try {
    const text = await readFile(path, "utf8");
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch (cause) {
    throw new MrlmError("DATA_INVALID", `${resolve(path)} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      hint: `\`${option}\` is relative to the working directory of the environment's server.`,
      cause,
    });
  }
}

function parse(line: string, place: Place): JsonValue {
  try {
    return JSON.parse(line) as JsonValue;
  } catch {
    throw invalidRow(place, "the line is no JSON", "JSONL has one whole JSON object on each line.");
  }
}
