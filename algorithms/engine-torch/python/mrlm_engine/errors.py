"""Errors of calls: a stable code, a message and a hint."""

from __future__ import annotations

from typing import Any

import grpc

_INVALID = grpc.StatusCode.INVALID_ARGUMENT
_PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION

# Every code that the engine raises, with the gRPC status that carries it.
ERROR_STATUS: dict[str, grpc.StatusCode] = {
    "CALL_OUT_OF_ORDER": _PRECONDITION,
    "CHECKPOINT_INCOMPLETE": _PRECONDITION,
    "CHECKPOINT_MISMATCH": _PRECONDITION,
    "DIRECTORY_OCCUPIED": _PRECONDITION,
    "ENGINE_FAILED": grpc.StatusCode.INTERNAL,
    "ENGINE_UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
    "GRADIENT_SHAPE": _INVALID,
    "GRAPH_LOST": grpc.StatusCode.ABORTED,
    "LORA_UNAVAILABLE": _PRECONDITION,
    "MESSAGE_INVALID": _INVALID,
    "MODEL_DIRECTORY_INVALID": _INVALID,
    "MODEL_DIRECTORY_MISSING": grpc.StatusCode.NOT_FOUND,
    "MODEL_DOWNLOAD_FAILED": _PRECONDITION,
    "MODEL_NOT_FOUND": grpc.StatusCode.NOT_FOUND,
    "NORMALIZER_INVALID": _INVALID,
    "NOT_TRAINABLE": _PRECONDITION,
    "OPTIONS_INVALID": _INVALID,
    "OUT_OF_MEMORY": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "SEQUENCE_INVALID": _INVALID,
    "SEQUENCE_TOO_LONG": _INVALID,
    "UNAUTHENTICATED": grpc.StatusCode.UNAUTHENTICATED,
    "VALUE_HEAD_MISSING": _PRECONDITION,
    "WEIGHTS_INVALID": _PRECONDITION,
    "WEIGHTS_VERSION": _PRECONDITION,
    "WRITE_FAILED": _PRECONDITION,
}


class EngineError(Exception):
    """A failure to report to the client: a stable code, a message with the object concerned, and a hint."""

    def __init__(self, code: str, message: str, hint: str, *, retryable: bool = False, retry_delay_ms: int = 0) -> None:
        super().__init__(f"{code}: {message} {hint}".strip())
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retry_delay_ms = retry_delay_ms
        self.status = ERROR_STATUS[code]

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickle, for messages between ranks."""
        return _restore, (self.code, self.message, self.hint, self.retryable, self.retry_delay_ms)

    def on_rank(self, rank: int) -> EngineError:
        """Returns the same error with the number of the rank in its message."""
        return _restore(self.code, f"Rank {rank}: {self.message}", self.hint, self.retryable, self.retry_delay_ms)


def _restore(code: str, message: str, hint: str, retryable: bool, retry_delay_ms: int) -> EngineError:
    return EngineError(code, message, hint, retryable=retryable, retry_delay_ms=retry_delay_ms)
