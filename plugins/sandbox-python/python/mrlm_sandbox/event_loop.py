"""The module `asyncio.unix_events` for Pyodide, which has no sockets, threads or signals. Only timers wake a task."""

from asyncio import base_events, events
from time import sleep
from typing import Any

__all__ = ("EventLoop", "SelectorEventLoop")


class _Clock:
    """Selector without files: it sleeps until the next timer."""

    @staticmethod
    def select(timeout: float | None) -> tuple[()]:
        if timeout is None:
            raise RuntimeError(
                "deadlock: every task waits for another one, and there are no threads or sockets that could wake one"
            )
        if timeout > 0:
            sleep(timeout)
        return ()


class SelectorEventLoop(base_events.BaseEventLoop):
    def __init__(self, selector: Any = None) -> None:
        super().__init__()
        self._selector = selector or _Clock()

    def _process_events(self, event_list: object) -> None:
        pass

    def _write_to_self(self) -> None:
        """Does nothing: there is no other thread that could wake the loop."""


EventLoop = SelectorEventLoop


class _DefaultEventLoopPolicy(events._BaseDefaultEventLoopPolicy):  # type: ignore[misc, name-defined]
    _loop_factory = SelectorEventLoop
