"""Lifetime of the engine's process: until its parent exits, or a signal ends it."""

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
# Process id of the launcher, for its ranks.
AGENT = "MRLM_RANKS_AGENT"


def termination_event() -> threading.Event:
    """Returns an event that is set by SIGTERM, SIGINT, or the end of standard input (the parent exited)."""
    ending = threading.Event()
    received, caught = os.pipe()

    def on_signal(number: int, frame: object) -> None:
        # The handler interrupts the main thread, which may hold the lock of the event or of the log.
        os.write(caught, bytes([number]))

    def watch_signals() -> None:
        while number := os.read(received, 1):
            log.info("ending: %s", signal.Signals(number[0]).name)
            ending.set()

    threading.Thread(target=watch_signals, name="signal-watch", daemon=True).start()
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    threading.Thread(target=_watch_stdin, args=(ending.set,), name="stdin-watch", daemon=True).start()
    return ending


class LauncherLifetime:
    """Lifetime of the launcher: until SIGTERM, SIGINT, or the exit of its parent."""

    def __init__(self) -> None:
        self.is_asked = False
        self._is_orphan = False
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        threading.Thread(target=_watch_stdin, args=(self._on_orphan,), name="stdin-watch", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether a signal or the exit of the parent ends the process."""
        return self.is_asked or self._is_orphan

    def _on_signal(self, number: int, frame: object) -> None:
        self.is_asked = True

    def _on_orphan(self) -> None:
        self._is_orphan = True


def exit_with_parent() -> None:
    """Sets the kernel to kill this process when its parent exits for any reason. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    agent = os.environ.get(AGENT)
    if agent is not None and os.getppid() != int(agent):
        # The launcher exited before the call, so the kernel would not kill this rank.
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
