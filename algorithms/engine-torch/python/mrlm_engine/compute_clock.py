"""How long the engine has been at work."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator


class ComputeClock:
    """Adds up wall seconds of computation, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        with self._lock:
            return self._seconds

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time spent inside."""
        started = time.perf_counter()
        try:
            yield
        finally:
            with self._lock:
                self._seconds += time.perf_counter() - started


# One process is one engine.
COMPUTE_CLOCK = ComputeClock()
