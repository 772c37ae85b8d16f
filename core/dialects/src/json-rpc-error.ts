import { defined, type ErrorCode, MrlmError } from "@mrlm/spec";

/** Error object of JSON-RPC 2.0. `data` has the fields of an {@link MrlmError}. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data: {
    readonly code: string;
    readonly hint: string;
    readonly retryable: boolean;
    readonly retryDelayMs?: number;
  };
}

const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

/** Codes of errors that the client causes by what it asks for, and of faults. */
const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  DATA_FORBIDDEN: INVALID_PARAMS,
  DATA_INVALID: INVALID_PARAMS,
  ENVIRONMENT_NOT_FOUND: INVALID_PARAMS,
  INTERNAL: INTERNAL_ERROR,
  MESSAGE_INVALID: INVALID_PARAMS,
  OPTIONS_INVALID: INVALID_PARAMS,
  ROLES_UNSUPPORTED: INVALID_PARAMS,
  SEED_REFUSED: INVALID_PARAMS,
  TASK_NOT_FOUND: INVALID_PARAMS,
  TASK_NOT_SUPPORTED: INVALID_PARAMS,
  TOOL_CONFLICT: INVALID_PARAMS,
};

/** Converts an error. Clients do not get the message of an unexpected one. */
export function jsonRpcError(error: unknown): JsonRpcError {
  const known = MrlmError.isInstance(error)
    ? error
    : new MrlmError("INTERNAL", "The call failed by a fault that the server's log describes.");
  const { message, hint, isRetryable: retryable, retryDelayMs } = known;
  return {
    code: CODES[known.code] ?? SERVER_ERROR,
    message: hint === "" ? message : `${message} ${hint}`,
    data: { code: known.code, hint, retryable, ...defined({ retryDelayMs }) },
  };
}
