import type { Writable } from "node:stream";
import type { JsonObject } from "@mrlm/spec";
import { printable } from "./printable.ts";

/** Output of a command: results on stdout, everything else on stderr. */
export interface Console {
  /** `--json`: stdout holds one JSON object a line and nothing else. */
  readonly json: boolean;
  /** Whether stderr is a terminal that a person watches; progress is then drawn in place. */
  readonly isInteractive: boolean;
  /** A line for people on stdout; silent with `--json`. */
  print(line: string): void;
  /** A result for programs on stdout; silent without `--json`. */
  emit(event: JsonObject): void;
  /** A line for people on stderr. */
  note(line: string): void;
  readonly stderr: Writable & { readonly columns?: number };
}

/** Output of a command: that of this process, or text that a test reads. */
export interface OutputStreams {
  readonly stdout: Writable;
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
}

export function createConsole(options: { readonly json: boolean } & Partial<OutputStreams>): Console {
  const { json, stdout = process.stdout, stderr = process.stderr } = options;
  return {
    json,
    isInteractive: stderr.isTTY === true && process.env["CI"] === undefined,
    print: (line) => void (json || stdout.write(`${printable(line)}\n`)),
    emit: (event) => void (json && stdout.write(`${JSON.stringify(event)}\n`)),
    note: (line) => void stderr.write(`${printable(line)}\n`),
    stderr,
  };
}
