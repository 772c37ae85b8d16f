import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const TAIL_LINES = 40;

/** The engine's log: a file where a directory is given, and the last lines for error messages. */
export interface EngineLog {
  /** Path of the file. */
  readonly file: string | undefined;
  write(line: string): void;
  /** For the file alone: what the error says already. */
  record(line: string): void;
  /** The last lines, indented, and where the rest is; for the end of an error message. */
  tail(lines?: number): string;
  close(): void;
}

/** Opens `engine.log` in a directory, which is made; an engine that is started again adds to it. */
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
      // A full disk: the last lines are kept here, and the run's own files say so.
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
      const said = kept
        .slice(-lines)
        .map((line) => `\n  ${line}`)
        .join("");
      return (said === "" ? "\n  It said nothing." : said) + (file === undefined ? "" : `\n  Log: ${file}`);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}
