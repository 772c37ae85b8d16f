"""What machines of an engine tell each other, as the one that starts ranks sees it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Start:
    """Where the ranks meet, and the engine's arguments, which are the same on all machines."""

    address: str
    port: int
    arguments: Sequence[str]


class Others(Protocol):
    """The other machines while the ranks of this one work."""

    def trouble(self) -> str | None:
        """Why the ranks of this machine must end, if they must."""

    def wait(self, seconds: float) -> None:
        """Waits that long, or less when there is news."""


class Nobody:
    """An engine of one machine."""

    def trouble(self) -> str | None:
        """Never any."""
        return None

    def wait(self, seconds: float) -> None:
        """All of it."""
        time.sleep(seconds)
