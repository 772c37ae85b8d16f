"""Threads of streams, apart from those of short calls."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# A stream occupies a thread while it is open. Threads start when they are needed. A stream beyond the limit waits until
# another one ends, and delays other streams only.
_POOL = ThreadPoolExecutor(max_workers=1024, thread_name_prefix="stream")


def on_stream_thread(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a handler of a stream, so that gRPC runs it on a thread of this pool."""
    marked: Any = handler
    marked.experimental_thread_pool = _POOL
    return handler
