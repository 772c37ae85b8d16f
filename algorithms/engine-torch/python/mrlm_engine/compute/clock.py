"""Time that the engine has spent computing."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator


class ComputeClock:
    """Sum of the wall seconds during which at least one thread computes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = 0.0
        # Number of threads that compute now, and the time since which at least one does.
        self._running = 0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        with self._lock:
            return self._seconds

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time spent inside."""
        with self._lock:
            if not self._running:
                self._since = time.perf_counter()
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._seconds += time.perf_counter() - self._since


# One process is one engine.
COMPUTE_CLOCK = ComputeClock()
