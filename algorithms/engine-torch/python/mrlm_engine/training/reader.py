"""Reader of a request stream in a separate thread, so that the engine computes while the client does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

Message = TypeVar("Message")


class StreamEnded(Exception):  # noqa: N818 - an end, not an error
    """Error for a stream that the client closed, or whose connection was lost."""


class StreamReader(Generic[Message]):
    """Messages of a request stream in order, with and without waiting."""

    def __init__(self, requests: Iterator[Message]) -> None:
        self._queue: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(requests,), name="stream-reader", daemon=True).start()

    def next(self, timeout: float | None = None) -> Message | None:
        """Returns the next message; None after `timeout` seconds without one. StreamEnded at the end."""
        try:
            message = self._queue.get(timeout=None if timeout is None else max(0.0, timeout))
        except queue.Empty:
            return None
        return self._checked(message)

    def waiting(self) -> Message | None:
        """Returns a message that was received already, or None."""
        try:
            return self._checked(self._queue.get_nowait())
        except queue.Empty:
            return None

    def _checked(self, message: Message | None) -> Message:
        if message is None:
            # Every later call raises too.
            self._queue.put(None)
            raise StreamEnded
        return message

    def _read(self, requests: Iterator[Message]) -> None:
        try:
            for message in requests:
                self._queue.put(message)
        except Exception:
            pass
        finally:
            self._queue.put(None)
