"""Messages between the machines of an engine, in the form that the launcher uses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Start:
    """Rendezvous address of the ranks, and the engine's arguments, which are equal on all machines."""

    address: str
    port: int
    arguments: Sequence[str]


class OtherMachines(Protocol):
    """The other machines while the ranks of this machine run."""

    def failure(self) -> str | None:
        """Returns the reason why the ranks of this machine must end; None without one."""

    def wait(self, seconds: float) -> None:
        """Waits that long, or until a failure."""


class NoOtherMachines:
    """An engine of one machine."""

    def failure(self) -> str | None:
        """Returns None."""
        return None

    def wait(self, seconds: float) -> None:
        """Waits that long."""
        time.sleep(seconds)
