import { type Logger, MrlmError } from "@mrlm/spec";

/** Writes an error that is no `MrlmError` to the log, because clients do not get its message. */
export function logFault(logger: Logger, error: unknown): void {
  if (MrlmError.isInstance(error)) return;
  logger.error("A call failed by a fault of the server or of a plugin.", {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}
