import { defined, type ErrorCode, isErrorCode, MrlmError } from "@mrlm/spec";

/** Error in a form that processes and threads pass to each other. */
export interface ErrorRecord {
  /** Absent: no error of `mrlm`. */
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly retryDelayMs?: number | undefined;
  readonly isRetryable?: boolean;
}

export function toErrorRecord(error: unknown): ErrorRecord {
  if (!MrlmError.isInstance(error)) return { message: error instanceof Error ? error.message : String(error) };
  const { code, message, hint, retryDelayMs, isRetryable } = error;
  return { code, message, hint, retryDelayMs, isRetryable };
}

/** Returns the error of a record. A code that this version does not know becomes INTERNAL. */
export function fromErrorRecord({ code, message, hint, retryDelayMs, isRetryable = false }: ErrorRecord): Error {
  if (code === undefined) return new Error(message);
  return new MrlmError(isErrorCode(code) ? code : "INTERNAL", message, {
    isRetryable,
    ...defined({ hint, retryDelayMs }),
  });
}

/** Returns an error of `mrlm` as it is, and INTERNAL for any other. */
export function toKnownError(error: unknown): MrlmError {
  return MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", String(error));
}
