"""The receiver of sequences to be sampled: this rank's worker, another rank's sampler, or several of them together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from mrlm_engine.sampling.sequence import SampledSequence


class SequenceTaker(Protocol):
    """Where sequences are sampled."""

    def submit(self, wave: list[SampledSequence]) -> None:
        """Starts sequences that belong together."""

    def cancel(self, sequences: Iterable[SampledSequence]) -> None:
        """Stops sequences that were submitted."""

    def close(self) -> None:
        """Ends sampling."""
