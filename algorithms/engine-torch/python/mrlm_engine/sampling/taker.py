"""Interface of receivers of sequences: this rank's worker, another rank's sampler, or several of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from mrlm_engine.sampling.sequence import SampledSequence


class SequenceTaker(Protocol):
    """Receiver that samples sequences."""

    def submit(self, wave: list[SampledSequence]) -> None:
        """Starts the sequences of one wave."""

    def cancel(self, sequences: Iterable[SampledSequence]) -> None:
        """Cancels submitted sequences."""

    def close(self) -> None:
        """Ends sampling."""
