import { ERROR_CODES } from "./codes.ts";
import type { ErrorCode } from "./error-code.ts";

const BRAND = Symbol.for("mrlm.error");

/** Fields of an error in addition to its code and message. */
export interface MrlmErrorOptions {
  /** Action that solves the problem; default the hint of the code. */
  readonly hint?: string;
  /** Whether the same call may succeed later; default `retryable` of the code. */
  readonly isRetryable?: boolean;
  /** Time to wait before the next try, in milliseconds. */
  readonly retryDelayMs?: number;
  readonly cause?: unknown;
}

/**
 * Error of mrlm with a stable code. The message states what happened and why; the hint states what to do. docs/reference/errors.md lists
 * the codes.
 */
export class MrlmError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly isRetryable: boolean;
  readonly retryDelayMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: MrlmErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "MrlmError";
    this.code = code;
    this.hint = options.hint ?? ERROR_CODES[code].hint;
    this.isRetryable = options.isRetryable ?? ERROR_CODES[code].retryable;
    this.retryDelayMs = options.retryDelayMs;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Returns true for an MrlmError of this or of another installed copy of this package. */
  static isInstance(error: unknown): error is MrlmError {
    return typeof error === "object" && error !== null && (error as Record<symbol, unknown>)[BRAND] === true;
  }

  /** Returns true for an MrlmError with one of these codes. */
  static hasCode(error: unknown, ...codes: ErrorCode[]): error is MrlmError {
    return MrlmError.isInstance(error) && codes.includes(error.code);
  }
}
