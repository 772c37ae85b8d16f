import { HttpError } from "@mrlm/kit/http";
import { type ErrorCode, MrlmError } from "@mrlm/spec";

/** Statuses of errors that a client causes, or after which it sends the request again. Clients send a request again after 503, and never after 500. */
const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  CANCELLED: 410,
  DATA_FORBIDDEN: 400,
  DATA_INVALID: 400,
  ENVIRONMENT_NOT_FOUND: 404,
  EPISODE_ENDED: 409,
  MESSAGE_INVALID: 400,
  OPTIONS_INVALID: 400,
  RESOURCE_EXHAUSTED: 503,
  ROLES_UNSUPPORTED: 400,
  SEED_REFUSED: 400,
  SERVER_UNAVAILABLE: 503,
  SESSION_BUSY: 429,
  SESSION_NOT_FOUND: 410,
  TASK_NOT_FOUND: 400,
  TASK_NOT_SUPPORTED: 400,
  TOOL_CONFLICT: 400,
};

/** Returns an error with the status of its response. */
export function withStatus(error: unknown): unknown {
  if (!MrlmError.isInstance(error)) return error;
  return new HttpError(STATUSES[error.code] ?? 500, error);
}

/** Returns the text of an error with its code. Clients do not get the message of an unexpected one. */
export function errorText(error: unknown): string {
  if (!MrlmError.isInstance(error)) return "The call failed by a fault that the server's log describes. (INTERNAL)";
  const { code, message, hint } = error;
  return `${message}${hint === "" ? "" : ` ${hint}`} (${code})`;
}
