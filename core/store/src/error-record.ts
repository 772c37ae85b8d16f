import { isErrorCode, MrlmError } from "@mrlm/spec";

/** Error in a form that threads and processes pass to each other. */
export interface ErrorRecord {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Returns the record of an error. Errors without a code of their own are INTERNAL. */
export function toErrorRecord(error: unknown): ErrorRecord {
  const { code, message, hint } = MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", String(error));
  return { code, message, hint };
}

export function fromErrorRecord({ code, message, hint }: ErrorRecord): MrlmError {
  return new MrlmError(isErrorCode(code) ? code : "INTERNAL", message, { hint });
}
