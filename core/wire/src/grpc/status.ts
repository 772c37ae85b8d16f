import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import { errorCodec } from "../errors.ts";
import { ErrorDetail } from "../gen/mrlm/common/v1/error.ts";
import { serialise } from "./serialise.ts";

/** Trailing metadata key of the serialised ErrorDetail. */
export const ERROR_METADATA_KEY = "mrlm-error-bin";

const STATUS_OF: Partial<Record<ErrorCode, status>> = {
  CANCELLED: status.CANCELLED,
  DEADLINE_EXCEEDED: status.DEADLINE_EXCEEDED,
  ENVIRONMENT_NOT_FOUND: status.NOT_FOUND,
  MODEL_DIRECTORY_MISSING: status.NOT_FOUND,
  MODEL_NOT_FOUND: status.NOT_FOUND,
  SESSION_NOT_FOUND: status.NOT_FOUND,
  TASK_NOT_FOUND: status.NOT_FOUND,
  DEMONSTRATION_REFUSED: status.PERMISSION_DENIED,
  OUT_OF_MEMORY: status.RESOURCE_EXHAUSTED,
  RESOURCE_EXHAUSTED: status.RESOURCE_EXHAUSTED,
  CALL_OUT_OF_ORDER: status.FAILED_PRECONDITION,
  EPISODE_ENDED: status.FAILED_PRECONDITION,
  NOT_TRAINABLE: status.FAILED_PRECONDITION,
  PROTOCOL_VERSION: status.FAILED_PRECONDITION,
  SESSION_BUSY: status.FAILED_PRECONDITION,
  STEP_OUT_OF_ORDER: status.FAILED_PRECONDITION,
  SAMPLER_DIFFERS: status.FAILED_PRECONDITION,
  SAMPLER_INVALID: status.FAILED_PRECONDITION,
  SAMPLER_PROBE_FAILED: status.FAILED_PRECONDITION,
  WEIGHTS_INVALID: status.FAILED_PRECONDITION,
  WEIGHTS_VERSION: status.FAILED_PRECONDITION,
  WRITE_FAILED: status.FAILED_PRECONDITION,
  GRAPH_LOST: status.ABORTED,
  ENGINE_FAILED: status.INTERNAL,
  ENVIRONMENT_FAILED: status.INTERNAL,
  INTERNAL: status.INTERNAL,
  SANDBOX_FAILED: status.INTERNAL,
  SCORER_FAILED: status.INTERNAL,
  UNAUTHENTICATED: status.UNAUTHENTICATED,
  ENGINE_EXITED: status.UNAVAILABLE,
  ENGINE_UNAVAILABLE: status.UNAVAILABLE,
  SAMPLER_UNAVAILABLE: status.UNAVAILABLE,
  SERVER_UNAVAILABLE: status.UNAVAILABLE,
  STORE_UNAVAILABLE: status.UNAVAILABLE,
};

/** Limits for the 8 KiB of trailing metadata that gRPC accepts. They contain a message twice: percent-encoded, and as base64 in the detail. */
const DETAILS_BYTES = 1 << 10;
const MESSAGE_BYTES = 3 << 10;

/** Returns the gRPC status of an error, with the error itself in the trailing metadata. A message that is too long for it is cut. */
export function statusOfError(error: unknown): StatusObject {
  const detail = errorCodec.encode(error);
  const message = cut(detail.message, MESSAGE_BYTES, Buffer.byteLength);
  const hint = cut(detail.hint, DETAILS_BYTES, Buffer.byteLength);
  const metadata = new Metadata();
  metadata.set(ERROR_METADATA_KEY, serialise(ErrorDetail, { ...detail, message, hint }));
  const details = cut(message, DETAILS_BYTES, (text) => encodeURIComponent(text).length);
  return { code: STATUS_OF[detail.code as ErrorCode] ?? status.INVALID_ARGUMENT, details, metadata };
}

/** Returns the beginning of a text whose `sizeOf` is at most `limit`. Lone surrogates cannot be encoded and are replaced. */
function cut(text: string, limit: number, sizeOf: (text: string) => number): string {
  const whole = text.toWellFormed();
  if (sizeOf(whole) <= limit) return whole;
  let kept = whole.slice(0, limit).toWellFormed();
  while (sizeOf(`${kept}...`) > limit) kept = kept.slice(0, Math.floor(0.9 * kept.length)).toWellFormed();
  return `${kept}...`;
}

/** Error codes for the statuses that gRPC itself reports. */
export interface StatusCodes {
  /** The peer cannot be reached. */
  readonly unavailable: ErrorCode;
  /** The peer failed and sent no `ErrorDetail`. */
  readonly failed: ErrorCode;
  /** Subject of the messages: "The engine at 127.0.0.1:5000". */
  readonly peer: string;
}

/** Returns the error that the peer threw, or an error for the status that gRPC reports. */
export function errorOfStatus(error: unknown, { unavailable, failed, peer }: StatusCodes): MrlmError {
  if (MrlmError.isInstance(error)) return error;
  if (!isServiceError(error))
    return new MrlmError(failed, `${peer} could not be called: ${String(error)}`, { cause: error });
  const [detail] = error.metadata?.get(ERROR_METADATA_KEY) ?? [];
  if (detail instanceof Buffer) return errorCodec.decode(ErrorDetail.decode(detail), failed);
  switch (error.code) {
    case status.CANCELLED:
      return new MrlmError("CANCELLED", `A call to ${lower(peer)} was cancelled.`, { cause: error });
    case status.UNAVAILABLE:
      return new MrlmError(unavailable, `${peer} cannot be reached: ${reasonOf(error.details)}`, { cause: error });
    case status.DEADLINE_EXCEEDED:
      return new MrlmError("DEADLINE_EXCEEDED", `${peer} did not answer in time.`, { cause: error });
    case status.UNIMPLEMENTED:
      return new MrlmError(
        "PROTOCOL_VERSION",
        `${peer} does not know a method that this version calls: ${error.details}`,
        { cause: error },
      );
    default:
      return new MrlmError(
        failed,
        `${peer} failed a call with gRPC status ${status[error.code] ?? error.code}: ${error.details}`,
        { cause: error },
      );
  }
}

/** Extracts the reason from gRPC's text for a failed connection: `No connection established. Last error: E. Resolution note: ` gives E. */
export function reasonOf(details: string): string {
  return details
    .replace(/\.? Resolution note:\s*$/, "")
    .replace(/^No connection established\. Last error: (?!null$)/, "");
}

/** Whether the connection failed, so that the same call may be repeated on another one. */
export function isConnectionLoss(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.UNAVAILABLE &&
    (error.metadata?.get(ERROR_METADATA_KEY).length ?? 0) === 0
  );
}

/** Whether gRPC reported the error. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && typeof (error as ServiceError).code === "number" && "details" in error;
}

function lower(peer: string): string {
  return peer.charAt(0).toLowerCase() + peer.slice(1);
}
