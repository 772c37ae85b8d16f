import { ERROR_CODES } from "./codes.ts";

/** A stable error code. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Returns true if a string is one of the codes. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
