import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const TAIL_LINES = 40;

/** Log of the engine: a file where a directory is given, and the last lines for error messages. */
export interface EngineLog {
  /** Path of the file. */
  readonly file: string | undefined;
  write(line: string): void;
  /** Writes to the file only, for text that the error message already has. */
  record(line: string): void;
  /** Returns the last lines, indented, and the path of the file, to append to an error message. */
  tail(lines?: number): string;
  close(): void;
}

/** Opens `engine.log` in a directory, which is created. An engine that is started again appends to it. */
export function openEngineLog(directory?: string): EngineLog {
  const file = directory === undefined ? undefined : join(directory, "engine.log");
  if (directory !== undefined) mkdirSync(directory, { recursive: true });
  let descriptor = file === undefined ? undefined : openSync(file, "a");
  const kept: string[] = [];
  const record = (line: string): void => {
    if (descriptor === undefined) return;
    try {
      writeSync(descriptor, `${line}\n`);
    } catch {
      // The disk is full. The last lines remain in memory, and the run reports the full disk for its own files.
    }
  };
  return {
    file,
    write(line) {
      kept.push(line);
      if (kept.length > TAIL_LINES) kept.shift();
      record(line);
    },
    record,
    tail(lines = TAIL_LINES) {
      const text = kept
        .slice(-lines)
        .map((line) => `\n  ${line}`)
        .join("");
      return (text === "" ? "\n  It wrote nothing." : text) + (file === undefined ? "" : `\n  Log: ${file}`);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}
