"""Entry point of the Pyodide memory image. One image serves runners and checkers: the first message names the role."""

import gc
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec

from . import library
from .pyodide_checker import PyodideChecker
from .runner import Runner


class _Role:
    def __init__(self) -> None:
        self.handle: Callable[[str], str] = self._begin

    def _begin(self, name: str) -> str:
        self.handle = Runner().handle if name == "runner" else PyodideChecker().handle
        return "ready"


class _EventLoopFinder:
    """Import hook that replaces asyncio's event loop, which needs sockets, by `event_loop`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == "asyncio.unix_events":
            return importlib.util.spec_from_file_location(
                name, os.path.join(os.path.dirname(__file__), "event_loop.py")
            )
        return None


def start() -> Callable[[str], str]:
    """Loads what the image holds, and returns the function that answers messages."""
    sys.meta_path.insert(0, _EventLoopFinder)
    library.load(bulky=True)
    sys.meta_path.remove(_EventLoopFinder)
    library.close_bridges()
    role = _Role()
    gc.collect()
    gc.freeze()
    return lambda message: role.handle(message)
