"""Conversion of exceptions of handlers into a gRPC status with an ErrorDetail."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

import grpc

from mrlm_engine.compute.out_of_memory import HINT, first_line, is_out_of_memory, out_of_memory
from mrlm_engine.errors import EngineError
from mrlm_engine.service.codec.errors import ERROR_METADATA_KEY, error_detail

log = logging.getLogger(__name__)
Result = TypeVar("Result")


def abort(context: Any, cause: BaseException) -> NoReturn:
    """Ends the call with `cause`, converted to an EngineError if it is another exception."""
    if isinstance(cause, EngineError):
        error = cause
    elif is_out_of_memory(cause):
        log.error("memory ran out", exc_info=cause)
        error = out_of_memory(f"({first_line(cause)})", HINT)
    else:
        log.exception("a call failed by a fault of the engine", exc_info=cause)
        error = EngineError(
            "ENGINE_FAILED",
            f"The engine failed: {type(cause).__name__}: {first_line(cause)}.",
            "The engine's log holds the stack.",
        )
    context.set_trailing_metadata(((ERROR_METADATA_KEY, error_detail(error)),))
    context.abort(error.status, error.message)
    raise AssertionError("context.abort raises")


def unary(handler: Callable[[Any, Any, Any], Result]) -> Callable[[Any, Any, Any], Result]:
    """Wraps a unary handler: its exceptions are sent to the client as errors."""

    @functools.wraps(handler)
    def wrapped(self: Any, request: Any, context: Any) -> Result:
        try:
            return handler(self, request, context)
        except Exception as cause:
            abort(context, cause)

    return wrapped


def streaming(handler: Callable[[Any, Any, Any], Iterator[Result]]) -> Callable[[Any, Any, Any], Iterator[Result]]:
    """Wraps a streaming handler in the same way. A disconnected client is no error: its iterator ends the handler."""

    @functools.wraps(handler)
    def wrapped(self: Any, requests: Any, context: Any) -> Iterator[Result]:
        try:
            yield from handler(self, requests, context)
        except grpc.RpcError:
            if context.is_active():
                raise
        except Exception as cause:
            abort(context, cause)

    return wrapped
