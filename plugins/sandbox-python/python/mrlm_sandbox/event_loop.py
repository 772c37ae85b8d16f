"""For Pyodide: the module `asyncio.unix_events`, where there are neither sockets nor threads nor signals. Nothing but time wakes a task."""

import time
from asyncio import base_events, events

__all__ = ("SelectorEventLoop", "EventLoop")


class _Clock:
    """What stands for a selector."""

    @staticmethod
    def select(timeout):
        if timeout is None:
            raise RuntimeError(
                "deadlock: every task waits for another one, and there are no threads or sockets that could wake one"
            )
        if timeout > 0:
            time.sleep(timeout)
        return ()


class SelectorEventLoop(base_events.BaseEventLoop):
    def __init__(self, selector=None):
        super().__init__()
        self._selector = selector or _Clock()

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        """Wakes the loop from another thread."""


EventLoop = SelectorEventLoop


class _DefaultEventLoopPolicy(events._BaseDefaultEventLoopPolicy):
    _loop_factory = SelectorEventLoop
