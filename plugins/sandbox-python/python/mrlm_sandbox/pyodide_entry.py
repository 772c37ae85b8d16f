"""For Pyodide: what the memory image holds. One image serves runners and checkers: the first message says what it is."""

import gc
import importlib.util
import os
import sys

from . import library
from .pyodide_checker import PyodideChecker
from .runner import Runner


class _Host:
    def __init__(self):
        self.handle = self._begin

    def _begin(self, role):
        host = Runner() if role == "runner" else PyodideChecker()
        self.handle = host.handle
        return "ready"


class _EventLoopFinder:
    """Puts `event_loop` in the place of the module that needs sockets."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "asyncio.unix_events":
            return importlib.util.spec_from_file_location(
                name, os.path.join(os.path.dirname(__file__), "event_loop.py")
            )
        return None


def start():
    """The function that answers messages."""
    sys.meta_path.insert(0, _EventLoopFinder)
    library.load(bulky=True)
    sys.meta_path.remove(_EventLoopFinder)
    library.close_bridges()
    host = _Host()
    gc.collect()
    gc.freeze()
    return lambda message: host.handle(message)
