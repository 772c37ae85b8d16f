"""Connection between machine 0 and another machine: a gRPC stream of JSON objects. It breaks when either is lost."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

METHOD = "/mrlm.engine.Machines/Join"
# The sum of both detects a machine without power or network. It must be below SELF_EXIT_SECONDS of ranks/failure.py.
_KEEPALIVE = [
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 15_000),
    ("grpc.keepalive_permit_without_calls", 1),
]
SERVER_OPTIONS = [
    *_KEEPALIVE,
    # A second run on the same port must fail rather than share it.
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5000),
    ("grpc.http2.max_ping_strikes", 0),
]
CLIENT_OPTIONS = [
    *_KEEPALIVE,
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # Machines of a cluster connect directly, without the user's HTTP proxy.
    ("grpc.enable_http_proxy", 0),
]


def encode(message: dict[str, Any]) -> bytes:
    """Encodes an object with one key, the kind of the message."""
    return json.dumps(message).encode()


def decode(data: bytes) -> dict[str, Any]:
    """Decodes a message. Raises ValueError for anything but a JSON object."""
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("not a JSON object")
    return message


def target(address: str, port: int) -> str:
    """Returns `address:port`, with brackets around an IPv6 address."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def host_of_peer(peer: str) -> str:
    """Returns the address in gRPC's name of a peer, such as `ipv4:10.0.0.2:4242`."""
    return unquote(peer.split(":", 1)[-1]).rsplit(":", 1)[0].strip("[]")
