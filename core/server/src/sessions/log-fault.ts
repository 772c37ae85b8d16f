import { type Logger, MrlmError } from "@mrlm/spec";

/** Errors in the log, which is written where the call is known; those who return the error to the client do not repeat it. */
const logged = new WeakSet<object>();

/** Writes an error that is no `MrlmError` to the log, once, because clients do not get its message. */
export function logFault(logger: Logger, error: unknown): void {
  if (MrlmError.isInstance(error)) return;
  if (typeof error === "object" && error !== null) {
    if (logged.has(error)) return;
    logged.add(error);
  }
  logger.error("A call failed by a fault of the server or of a plugin.", {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}
