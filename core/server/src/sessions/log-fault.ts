import { type Logger, MrlmError } from "@mrlm/spec";
import type { MeasuredPhase } from "./server-metrics.ts";

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

/** Writes the failure of an environment's call to the log. The message is left out: it may quote the action. */
export function logFailure(logger: Logger, phase: MeasuredPhase, error: unknown): void {
  if (!MrlmError.isInstance(error)) return logFault(logger, error);
  const { code, cause } = error;
  if (code === "CANCELLED") return;
  const place = code === "ENVIRONMENT_FAILED" ? placeOf(cause) : undefined;
  const fields = { phase, code, ...(place !== undefined && { place }) };
  // The client that opened the session may be gone.
  if (phase === "close") logger.warn("An environment could not be closed.", fields);
  else logger.debug("A call failed.", fields);
}

/** Returns the first frame of an error's stack, which follows its name and message. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined;
  const { message, stack } = error;
  const start = stack.indexOf(message);
  // The stack of an error whose message was replaced begins with the former message.
  if (start === -1) return undefined;
  return /^\s+at (.+)$/m.exec(stack.slice(start + message.length))?.[1];
}
