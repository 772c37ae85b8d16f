"""Authentication of calls by the engine's token, if it has one."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import grpc

from mrlm_engine.errors import EngineError
from mrlm_engine.service.codec.errors import ERROR_METADATA_KEY, error_detail


class TokenInterceptor(grpc.ServerInterceptor):
    """Refuses calls without `authorization: Bearer TOKEN`."""

    def __init__(self, token: str) -> None:
        self._expected = token.encode()
        self._refusal: Any = grpc.unary_unary_rpc_method_handler(_refuse)

    def intercept_service(self, continuation: Callable[[Any], Any], handler_call_details: Any) -> Any:
        """Forwards calls with the token."""
        given = str(dict(handler_call_details.invocation_metadata).get("authorization", ""))
        scheme, _, token = given.partition(" ")
        # The letter case of the scheme does not matter (RFC 9110, section 11.1).
        if scheme.lower() == "bearer" and hmac.compare_digest(token.lstrip(" ").encode(), self._expected):
            return continuation(handler_call_details)
        return self._refusal


def _refuse(request: Any, context: Any) -> None:
    error = EngineError("UNAUTHENTICATED", "The call carries no valid token.", "Send `authorization: Bearer TOKEN`.")
    context.set_trailing_metadata(((ERROR_METADATA_KEY, error_detail(error)),))
    context.abort(error.status, error.message)
