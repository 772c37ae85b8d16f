import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type JsonValue, MrlmError } from "@mrlm/spec";

/** Rows of a JSONL file; DATA_INVALID names the line that is none. */
export async function readRows(path: string, directory: string): Promise<JsonValue[]> {
  const file = resolve(directory, path);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new MrlmError("DATA_INVALID", `The data file ${file} cannot be read: ${(error as Error).message}`, {
      hint: "Check the path; it is relative to the configuration.",
      cause: error,
    });
  }
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line) as JsonValue];
    } catch (error) {
      throw new MrlmError("DATA_INVALID", `${file}:${i + 1} is not JSON: ${(error as Error).message}`, { cause: error });
    }
  });
}
