"""Work that is done side by side on a CPU (ADR 0008, lanes).

One operation of a model of a few million parameters is too small to divide among threads. So a micro-batch is divided
instead: it has a part for each lane, and a lane is one thread. What is computed depends on the number of lanes, which
the configuration fixes, never on how many of them find a core that is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


class Lanes:
    """Threads for `count` parts of something; the caller's own is the first of them."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1, thread_name_prefix="lane") if count > 1 else None

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """Results of `tasks` (one at least, no more than lanes), in order.

        All have ended when this returns or raises what one of them raised.
        """
        if self._pool is None:
            return [task() for task in tasks]
        others = [self._pool.submit(task) for task in tasks[1:]]
        try:
            first = tasks[0]()
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()
