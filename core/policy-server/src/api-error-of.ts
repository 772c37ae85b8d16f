import { ApiError } from "@mrlm/kit/gateway";
import { HttpError } from "@mrlm/kit/http";
import { MrlmError } from "@mrlm/spec";

/** Converts what a request threw to the error of its response. Messages of unexpected errors are for the log alone. */
export function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const error = thrown instanceof HttpError ? thrown.error : thrown;
  if (!MrlmError.isInstance(error))
    return new ApiError(500, "INTERNAL", "The request failed by a fault that the server's log describes.");
  return new ApiError(thrown instanceof HttpError ? thrown.status : statusOf(error), codeOf(error), textOf(error), {
    ...(error.isRetryable && { retryAfterSeconds: Math.ceil((error.retryDelayMs ?? 1_000) / 1_000) }),
  });
}

/** Errors of the engine that the request has caused. */
const INVALID = ["SEQUENCE_INVALID", "OPTIONS_INVALID", "TOOLS_UNSUPPORTED", "TOKENIZER_INVALID"] as const;

function statusOf(error: MrlmError): number {
  if (MrlmError.hasCode(error, "SEQUENCE_TOO_LONG", ...INVALID)) return 400;
  return MrlmError.hasCode(error, "ENGINE_UNAVAILABLE", "ENGINE_EXITED", "CANCELLED", "RESOURCE_EXHAUSTED") ? 503 : 500;
}

function codeOf(error: MrlmError): string {
  return error.code === "SEQUENCE_TOO_LONG" ? "context_length_exceeded" : error.code;
}

function textOf({ message, hint }: MrlmError): string {
  return hint === undefined || hint === "" ? message : `${message} ${hint}`;
}
