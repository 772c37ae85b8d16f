import { type ErrorCode, ERROR_CODES } from "./codes.ts";

const BRAND = Symbol.for("mrlm.error");

/** What an error carries beside its message. */
export interface MrlmErrorOptions {
  /** What to do about it. */
  readonly hint?: string;
  /** Whether the same call may succeed if it is simply made again. Defaults to what the catalogue says of the code. */
  readonly isRetryable?: boolean;
  /** How long to wait before that. */
  readonly retryDelayMs?: number;
  readonly cause?: unknown;
}

/**
 * Every error that mrlm raises on purpose. The message says what happened and why, the hint what to do; the code is stable
 * and documented in docs/reference/errors.md.
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

  /** Recognises an MrlmError of any copy of this package. */
  static isInstance(error: unknown): error is MrlmError {
    return typeof error === "object" && error !== null && (error as Record<symbol, unknown>)[BRAND] === true;
  }

  /** An MrlmError with one of these codes. */
  static hasCode(error: unknown, ...codes: ErrorCode[]): error is MrlmError {
    return MrlmError.isInstance(error) && codes.includes(error.code);
  }
}
