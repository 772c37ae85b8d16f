import { type ErrorCode, MrlmError, isErrorCode } from "@mrlm/spec";
import type { ErrorDetail } from "./gen/mrlm/common/v1/error.ts";

/** Codec: error of a call. */
export const errorCodec = {
  /** Encodes an error. An error that is no `MrlmError` becomes INTERNAL without its message, which may contain private data. */
  encode(error: unknown): ErrorDetail {
    const known = MrlmError.isInstance(error)
      ? error
      : new MrlmError("INTERNAL", "The call failed by a fault that the server's log describes.");
    return {
      code: known.code,
      message: known.message,
      hint: known.hint,
      retryable: known.isRetryable,
      retryDelayMs: Math.max(0, Math.round(known.retryDelayMs ?? 0)),
    };
  },

  /**
   * Decodes the error that the peer threw. A code that this version does not know is named in the message and replaced by `unknownAs`.
   */
  decode(detail: ErrorDetail, unknownAs: ErrorCode = "INTERNAL"): MrlmError {
    const { code, message, hint, retryable: isRetryable, retryDelayMs } = detail;
    const known = isErrorCode(code);
    return new MrlmError(known ? code : unknownAs, known ? message : `[${code}] ${message}`, {
      ...(hint === "" ? undefined : { hint }),
      isRetryable,
      ...(retryDelayMs === 0 ? undefined : { retryDelayMs }),
    });
  },
};
