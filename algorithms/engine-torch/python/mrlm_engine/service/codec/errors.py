"""Encoding of an error as the ErrorDetail of a call's trailing metadata."""

from __future__ import annotations

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.common.v1 import error_pb2

ERROR_METADATA_KEY = "mrlm-error-bin"


def error_detail(error: EngineError) -> bytes:
    """Returns the serialised ErrorDetail of `error`."""
    return error_pb2.ErrorDetail(
        code=error.code,
        message=error.message,
        hint=error.hint,
        retryable=error.retryable,
        retry_delay_ms=error.retry_delay_ms,
    ).SerializeToString()
