import type { SessionTable } from "@mrlm/server/sessions";
import { HttpError } from "@mrlm/kit/http";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import { errorText, withStatus } from "../status.ts";
import { MalformedRequest } from "./requests.ts";

/** Codes of errors over `/ws`. */
export type SocketErrorCode =
  | "INVALID_JSON"
  | "UNKNOWN_TYPE"
  | "VALIDATION_ERROR"
  | "EXECUTION_ERROR"
  | "CAPACITY_REACHED"
  | "FACTORY_ERROR"
  | "SESSION_ERROR";

export function errorData(code: SocketErrorCode, message: string, others: JsonObject = {}): JsonObject {
  return { message, code, ...others };
}

/** Converts an error to the data of an error message, with the facts of ours under `mrlm`. @param starting environment whose episode could not begin */
export function errorDataOf(thrown: unknown, sessions: SessionTable, starting?: string): JsonObject {
  const error = thrown instanceof HttpError ? thrown.error : thrown;
  if (error instanceof MalformedRequest)
    return errorData("VALIDATION_ERROR", `Invalid message: ${error.message}`, {
      errors: error.faults.map((fault) => ({ ...fault, loc: [...fault.loc] })),
    });
  const known = MrlmError.isInstance(error) ? error : undefined;
  const { retryDelayMs } = known ?? {};
  const mrlm = {
    code: known?.code ?? "INTERNAL",
    retryable: known?.isRetryable ?? false,
    ...defined({ retry_delay_ms: retryDelayMs }),
  };
  const text = errorText(error);
  if (known?.code === "RESOURCE_EXHAUSTED") {
    const active = { active_sessions: sessions.use().sessions, max_sessions: sessions.limits.sessions };
    return errorData("CAPACITY_REACHED", text, { ...active, mrlm });
  }
  if (MrlmError.hasCode(error, "SESSION_NOT_FOUND", "SESSION_BUSY", "SERVER_UNAVAILABLE", "ENVIRONMENT_NOT_FOUND"))
    return errorData("SESSION_ERROR", text, { mrlm });
  const refusal = withStatus(error);
  const isFault = !(refusal instanceof HttpError) || refusal.status >= 500;
  if (starting !== undefined && isFault) return errorData("FACTORY_ERROR", text, { factory_name: starting, mrlm });
  return errorData("EXECUTION_ERROR", text, { mrlm });
}
