"""How long the engine's process lives: until its parent goes, or it is told to end."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
# Names the process that starts ranks, for these.
AGENT = "MRLM_RANKS_AGENT"


def end_of_life() -> threading.Event:
    """An event that is set by SIGTERM, SIGINT or the end of standard input (an orphan must not stay)."""
    ending = threading.Event()

    def on_signal(number: int, frame: object) -> None:
        log.info("ending: %s", signal.Signals(number).name)
        ending.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    threading.Thread(target=_watch_stdin, args=(ending.set,), name="stdin-watch", daemon=True).start()
    return ending


class LauncherLife:
    """Of the process that starts ranks: until SIGTERM or SIGINT asks it to end, or its parent goes."""

    def __init__(self) -> None:
        self.is_asked = False
        self._is_orphan = False
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        threading.Thread(target=_watch_stdin, args=(self._on_orphan,), name="stdin-watch", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Asked or not."""
        return self.is_asked or self._is_orphan

    def _on_signal(self, number: int, frame: object) -> None:
        self.is_asked = True

    def _on_orphan(self) -> None:
        self._is_orphan = True


def die_with_parent() -> None:
    """Has the kernel end this process when its parent ends, however that ends. Only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    agent = os.environ.get(AGENT)
    if agent is not None and os.getppid() != int(agent):
        # It ended before the kernel was asked, and nobody would end this rank.
        os._exit(1)


def _watch_stdin(ended: Callable[[], None]) -> None:
    try:
        descriptor = sys.stdin.fileno()
        while os.read(descriptor, 4096):
            pass
    except (OSError, ValueError, AttributeError):
        pass
    log.info("ending: standard input was closed")
    ended()
