import { MrlmError } from "@mrlm/spec";

/** Throws OPTIONS_INVALID for commands that no program can be started with. */
export function assertCommand(command: string): void {
  if (command.includes("\0")) throw new MrlmError("OPTIONS_INVALID", "A command has no NUL character.");
}

/** Throws CANCELLED after an abort. */
export function assertRunning(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new MrlmError("CANCELLED", "The command was cancelled.");
}

/** Creates the error of a call after the close of a workspace. */
export function gone(): MrlmError {
  return new MrlmError("SESSION_NOT_FOUND", "The workspace is closed.");
}
