"""Errors with the stable codes of docs/reference/errors.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc

from mrlm_client.gen.mrlm.common.v1.error_pb2 import ErrorDetail

if TYPE_CHECKING:
    from mrlm_client.values import StepResult, Unscored

ERROR_KEY = "mrlm-error-bin"
#: Codes of a step after which the episode continues. All others end it, also on the server.
HARMLESS = ("OPTIONS_INVALID", "STEP_OUT_OF_ORDER")


class MrlmError(RuntimeError):
    """Error of a call: the server's own, or one of this client.

    Attributes:
        code: stable code, such as `SESSION_NOT_FOUND`.
        hint: what to do; may be empty.
        is_retryable: whether the same call may succeed later.
        retry_delay_ms: delay before the repetition in milliseconds; 0: not known.
    """

    def __init__(
        self, code: str, message: str, hint: str = "", *, is_retryable: bool = False, retry_delay_ms: int = 0
    ) -> None:
        sentence = message if message.endswith((".", "?", "!")) else f"{message}."
        super().__init__(f"{code}: {sentence} {hint}".rstrip())
        self.code = code
        self.message = message
        self.hint = hint
        self.is_retryable = is_retryable
        self.retry_delay_ms = retry_delay_ms


class UnscoredError(MrlmError):
    """A reward that could not be computed. It is no zero: leave the episode out.

    Attributes:
        result: result of the step, which was carried out. The episode continues unless it has ended.
    """

    def __init__(self, agent: str, unscored: Unscored, result: StepResult | None = None) -> None:
        super().__init__(
            unscored.code,
            f"A reward of {agent} could not be computed: {unscored.message}",
            "Leave the episode out. This is no reward of 0.",
        )
        self.result = result


def closed_error(address: str) -> MrlmError:
    """Returns the error of a call of a client that has been closed."""
    return MrlmError("CANCELLED", f"The client of {address} has been closed.", "Make another client for further calls.")


def detail_of(failure: grpc.RpcError) -> MrlmError | None:
    """Returns the server's own error of a failed call; None where gRPC itself reports the failure."""
    trailing: Any = failure.trailing_metadata()
    for key, value in trailing or ():
        if key == ERROR_KEY:
            detail = ErrorDetail.FromString(value)
            return MrlmError(
                detail.code,
                detail.message,
                detail.hint,
                is_retryable=detail.retryable,
                retry_delay_ms=detail.retry_delay_ms,
            )
    return None


def is_connection_loss(failure: grpc.RpcError) -> bool:
    """Whether the connection failed, so that the same call may be sent again."""
    return failure.code() is grpc.StatusCode.UNAVAILABLE and detail_of(failure) is None


def error_of(failure: grpc.RpcError, address: str) -> MrlmError:
    """Returns the server's own error, or an error for the status that gRPC reports."""
    detail = detail_of(failure)
    if detail is not None:
        return detail
    status, details = failure.code(), failure.details() or ""
    server = f"The environment server at {address}"
    if status is grpc.StatusCode.UNAVAILABLE:
        if "handshake" in details.lower():
            hint = "Check `tls`, and the certificate of the server."
            return MrlmError("TLS_FAILED", f"{server} cannot be reached by TLS: {details}", hint)
        hint = "Start it with mrlm serve, or correct the address. If it has a certificate, give `tls`."
        return MrlmError("SERVER_UNAVAILABLE", f"{server} cannot be reached: {details}", hint)
    if status is grpc.StatusCode.CANCELLED:
        return MrlmError("CANCELLED", f"A call to {server[0].lower()}{server[1:]} was cancelled.")
    if status is grpc.StatusCode.UNAUTHENTICATED:
        return MrlmError("UNAUTHENTICATED", f"{server} refused the call: {details}", "Give `token`.")
    if status is grpc.StatusCode.DEADLINE_EXCEEDED:
        return MrlmError("DEADLINE_EXCEEDED", f"{server} did not answer in time.")
    if status is grpc.StatusCode.UNIMPLEMENTED:
        message = f"{server} does not know a method that this version calls: {details}"
        return MrlmError("PROTOCOL_VERSION", message, "Install the same version of mrlm on both sides.")
    return MrlmError("INTERNAL", f"{server} failed a call with gRPC status {status.name}: {details}")
