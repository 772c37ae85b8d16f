import { readFile } from "node:fs/promises";
import { decodeUtf8 } from "@mrlm/kit/service";
import { parse, TomlError } from "smol-toml";
import { invalidTask, unreadable } from "./place.ts";

/** TOML file with the lines of its keys. */
export interface TomlFile {
  readonly value: Readonly<Record<string, unknown>>;
  /** Returns `FILE:LINE` of a key, or of the nearest table above it. */
  placeOf(path: readonly PropertyKey[]): string;
}

/** Reads a TOML file. Rejects with DATA_INVALID, which names file and line. */
export async function readToml(path: string): Promise<TomlFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error, "A task has the files task.toml, instruction.md and tests/test.sh.");
  });
  const text = decodeUtf8(bytes, path);
  try {
    const lines = linesOf(text);
    return { value: parse(text), placeOf: (keys) => `${path}:${lineOf(lines, keys)}` };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw invalidTask(`${path}:${error.line}`, (error.message.split("\n", 1)[0] as string).replace(/\.$/, ""));
  }
}

/** Returns the line of each table and key, by its path: `steps.0.agent.timeout_sec`. */
function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  const counts = new Map<string, number>();
  let table: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const [, list, name] = /^\s*\[(\[?)\s*([^\]]+?)\s*\]/.exec(line) ?? [];
    const key = /^\s*([A-Za-z0-9_.-]+|"[^"]*")\s*=/.exec(line)?.[1];
    if (name !== undefined) {
      const names = namesOf(name);
      if (list !== "") counts.set(names.join("."), (counts.get(names.join(".")) ?? -1) + 1);
      // A table below an array of tables is one of its last element.
      table = names.flatMap((each, depth) => {
        const count = counts.get(names.slice(0, depth + 1).join("."));
        return count === undefined ? [each] : [each, String(count)];
      });
    }
    if (list !== undefined && list !== "") setOnce(lines, table.slice(0, -1).join("."), at + 1);
    const path = name !== undefined ? table : key === undefined ? [] : [...table, ...namesOf(key)];
    if (path.length > 0) setOnce(lines, path.join("."), at + 1);
  }
  return lines;
}

function setOnce(lines: Map<string, number>, key: string, line: number): void {
  if (!lines.has(key)) lines.set(key, line);
}

function lineOf(lines: ReadonlyMap<string, number>, keys: readonly PropertyKey[]): number {
  for (let length = keys.length; length > 0; length--) {
    const line = lines.get(keys.slice(0, length).join("."));
    if (line !== undefined) return line;
  }
  return 1;
}

function namesOf(key: string): string[] {
  return key.split(".").map((name) => name.trim().replace(/^["'](.*)["']$/, "$1"));
}
