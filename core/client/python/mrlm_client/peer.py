"""Server at the other end: how it is reached, and which calls are sent to it again."""

from __future__ import annotations

import random
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc

from mrlm_client.errors import MrlmError, error_of, is_connection_loss

#: The server binds sessions to this secret of the client.
CLIENT_KEY = "mrlm-client"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0
#: Longest wait for a server that has not answered yet.
CONNECT_S = 10.0
#: Longest time until a server has received a token that its client has.
TOKEN_S = 60.0
CHANNEL_OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # This package repeats calls; gRPC repeats none.
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # A connection of its own, without the state of other channels to this address.
    ("grpc.use_local_subchannel_pool", 1),
    # Detects that the server's machine is gone while calls wait for it.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
]


@dataclass(frozen=True)
class Tls:
    """TLS of a client, in PEM form.

    Attributes:
        ca: certificates of the authorities that sign the server's certificate. Default: those of gRPC.
        cert, key: certificate of the client, for a server with `--tls-client-ca`.
        server_name: name that the server's certificate must have. Default: the host of the address.
    """

    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = None
    server_name: str | None = None


class Peer:
    """Address, identity and credentials of one client at one server."""

    def __init__(
        self,
        address: str,
        token: str | Callable[[], str] | None,
        tls: Tls | None,
        connect_s: float | None,
        reconnect_s: float,
    ) -> None:
        if re.search(r":\d+$|^unix:", address) is None:
            hint = "Give host and port, for example 127.0.0.1:50051."
            raise MrlmError("CONFIG_INVALID", f"The address {address!r} of a server has no port.", hint)
        if tls is not None and (tls.cert is None) != (tls.key is None):
            raise MrlmError("CONFIG_INVALID", "`tls` has one of `cert` and `key`.", "Give both, or neither.")
        self.address = address
        self.tls = tls
        self._client = secrets.token_hex(16)
        self._source = token if callable(token) else None
        self._token = token() if callable(token) else token
        self._renewed_at = float("-inf")
        self._connect_s = min(CONNECT_S, reconnect_s) if connect_s is None else connect_s
        self._reconnect_s = reconnect_s
        #: Whether the server has ever answered.
        self.has_answered = False

    @property
    def metadata(self) -> list[tuple[str, str]]:
        metadata = [(CLIENT_KEY, self._client)]
        return metadata if self._token is None else [*metadata, ("authorization", f"Bearer {self._token}")]

    @property
    def options(self) -> list[tuple[str, Any]]:
        name = None if self.tls is None else self.tls.server_name
        return CHANNEL_OPTIONS if name is None else [*CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", name)]

    @property
    def credentials(self) -> grpc.ChannelCredentials | None:
        if self.tls is None:
            return None
        return grpc.ssl_channel_credentials(self.tls.ca, self.tls.key, self.tls.cert)

    @property
    def patience_s(self) -> float:
        return self._reconnect_s if self.has_answered else self._connect_s

    def renew_token(self) -> bool:
        """Gets the present token after the server refused one. Returns whether another attempt may succeed."""
        token = self._token if self._source is None else self._source()
        if token == self._token:
            return time.monotonic() - self._renewed_at < TOKEN_S
        self._token, self._renewed_at = token, time.monotonic()
        return True


class Attempts:
    """Attempts of one call. The server carries a reset or step out once, however often it arrives."""

    def __init__(self, peer: Peer, patience_s: float | None = None) -> None:
        self._peer = peer
        self._patience_s = patience_s
        self._failing_since: float | None = None
        self._pause_s = FIRST_PAUSE_S

    def answered(self) -> None:
        self._peer.has_answered = True

    def pause_after(self, failure: grpc.RpcError) -> float:
        """Returns the seconds until the next attempt.

        Raises:
            MrlmError: no attempt follows.
        """
        error = error_of(failure, self._peer.address)
        is_lost = is_connection_loss(failure)
        if is_lost and error.code == "TLS_FAILED" and not self._peer.has_answered:
            raise error from failure
        if not is_lost and not (failure.code() is grpc.StatusCode.UNAUTHENTICATED and self._peer.renew_token()):
            raise error from failure
        now = time.monotonic()
        self._failing_since = now if self._failing_since is None else self._failing_since
        patience_s = self._peer.patience_s if self._patience_s is None else self._patience_s
        if now - self._failing_since >= patience_s:
            raise error from failure
        pause = min(self._pause_s, self._failing_since + patience_s - now)
        self._pause_s = min(self._pause_s * 1.6, LONGEST_PAUSE_S)
        return pause * random.uniform(0.8, 1.0)


class Refusals:
    """Repetition of resets that a server with no room refuses, after the delay that it states."""

    def __init__(self, admission_s: float) -> None:
        self._admission_s = admission_s
        self._since: float | None = None

    def pause_after(self, error: MrlmError) -> float:
        """Returns the seconds until the next reset.

        Raises:
            MrlmError: the error itself, if it is another one or the refusals have lasted too long.
        """
        is_full = error.code == "RESOURCE_EXHAUSTED" and error.is_retryable
        if not is_full and not (error.code == "SERVER_UNAVAILABLE" and error.retry_delay_ms > 0):
            raise error
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        pause = (error.retry_delay_ms or 1_000) / 1_000
        if now + pause - self._since > self._admission_s:
            raise error
        return pause
