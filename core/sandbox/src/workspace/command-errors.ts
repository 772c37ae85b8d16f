import { MrlmError } from "@mrlm/spec";
import type { BoundedOutput } from "./bounded-output.ts";

/** Characters of each output in an error. */
const PRINTED = 800;

/** Throws OPTIONS_INVALID for commands that no program can be started with. */
export function assertCommand(command: string): void {
  if (command.includes("\0")) throw new MrlmError("OPTIONS_INVALID", "A command has no NUL character.");
}

/** Throws CANCELLED after an abort, with the end of what was printed. */
export function assertRunning(signal: AbortSignal | undefined, printed: readonly BoundedOutput[] = []): void {
  if (signal?.aborted !== true) return;
  const ends = printed.map((output) => Buffer.from(output.bytes()).toString().trim().slice(-PRINTED)).filter(Boolean);
  const end = ends.length === 0 ? "" : ` The end of its output: ${ends.join("\n")}`;
  throw new MrlmError("CANCELLED", `The command was cancelled.${end}`);
}

/** Creates the error of a call after the close of a workspace. */
export function gone(): MrlmError {
  return new MrlmError("SESSION_NOT_FOUND", "The workspace is closed.");
}
