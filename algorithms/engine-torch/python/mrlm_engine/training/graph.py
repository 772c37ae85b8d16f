"""The protocol of a micro-batch between its forward and its backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.logprobs.selection import UnitOutputs


class Graph(Protocol):
    """A micro-batch whose outputs were computed with a graph, or can be computed again with one."""

    @property
    def computed_tokens(self) -> int:
        """Tokens that the model read."""

    @property
    def graph_bytes(self) -> int:
        """Bytes kept for the backward pass."""

    def outputs(self) -> list[UnitOutputs]:
        """Returns the selected outputs, unit by unit."""

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Runs backward from the gradients of its units divided by `normalizer`, and accumulates."""
