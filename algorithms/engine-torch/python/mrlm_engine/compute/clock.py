"""Time that the engine has spent computing, and that a device has spent on sections of its work."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import torch


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


class DeviceTimer:
    """Sum of the seconds of sections of work on a device. Used by one thread at a time.

    A GPU runs behind the thread that launches its work: there a section is the time between two events of the stream,
    which is known once the work is done.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._seconds = 0.0
        # Sections whose work may not be done.
        self._open: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    @contextlib.contextmanager
    def section(self) -> Iterator[None]:
        """Counts the work that is launched inside."""
        if self._device.type != "cuda":
            started = time.perf_counter()
            try:
                yield
            finally:
                self._seconds += time.perf_counter() - started
            return
        begin, end = self._event(), self._event()
        yield
        end.record()
        self._open.append((begin, end))

    def take(self, *, wait: bool = False) -> float:
        """Returns the seconds of the sections that are done, or with `wait` of all, since the last call."""
        while self._open and (wait or self._open[0][1].query()):  # type: ignore[no-untyped-call]
            begin, end = self._open.pop(0)
            end.synchronize()
            self._seconds += begin.elapsed_time(end) / 1000
        found, self._seconds = self._seconds, 0.0
        return found

    def _event(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event


# One process is one engine.
COMPUTE_CLOCK = ComputeClock()
