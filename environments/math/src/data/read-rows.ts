import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { MrlmError } from "@mrlm/spec";
import type { MathOptions } from "../options.ts";
import { FORMATS, type ReadRow, recognise } from "./formats.ts";
import { invalidRow } from "./invalid-row.ts";
import type { Place, Row } from "./row.ts";

/** What is known of a file's rows, each with its place. */
export type PlacedRow = Row & { readonly place: Place };

/** Reads and checks every row; throws DATA_INVALID, with the file and line, for the first that is not of the form. Empty lines are skipped. */
export async function readRows({ path, format }: NonNullable<MathOptions["data"]>): Promise<PlacedRow[]> {
  const lines = (await textOf(path)).split("\n").map((line, i) => ({ line: line.trim(), place: `${path}:${i + 1}` as const }));
  let read: ReadRow | undefined = format === "auto" ? undefined : FORMATS[format];
  const rows = lines
    .filter(({ line }) => line !== "")
    .map(({ line, place }) => {
      const value = parse(line, place);
      read ??= recognise(value, place);
      return { ...read(value, place), place };
    });
  if (rows.length === 0) throw new MrlmError("DATA_INVALID", `${path} has no rows.`, { hint: "It needs one JSON object on each line." });
  return rows;
}

async function textOf(path: string): Promise<string> {
  try {
    const text = await readFile(path, "utf8");
    return text.startsWith("\uFEFF") ? text.slice(1) : text;
  } catch (cause) {
    throw new MrlmError("DATA_INVALID", `${resolve(path)} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      hint: "`data.path` is relative to the working directory of the environment's server.",
      cause,
    });
  }
}

function parse(line: string, place: Place): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalidRow(place, "the line is no JSON", "JSONL has one whole JSON object on each line.");
  }
}
