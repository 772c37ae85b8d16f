import { type Logger, MrlmError } from "@mrlm/spec";

/** Writes what is no MrlmError to the log: a client is told no more than that it happened. */
export function logFault(logger: Logger, error: unknown): void {
  if (MrlmError.isInstance(error)) return;
  logger.error("A call failed by a fault of the server or of a plugin.", {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}
