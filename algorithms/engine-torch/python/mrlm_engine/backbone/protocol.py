"""What every trunk does, whichever way it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from mrlm_engine.batching.layout import OutputRows
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import GradientSink


class TrunkRun(Protocol):
    """One forward pass: hidden states that outputs read, and the way back."""

    # [R, hidden], normalised, in the model's number format.
    hidden: torch.Tensor
    # Which outputs read which of those rows.
    rows: OutputRows
    # Tokens that the model read, padding included.
    computed_tokens: int
    # Bytes kept for the backward pass; 0 without one.
    graph_bytes: int

    def backward(self, grad_hidden: torch.Tensor, gradients: GradientSink) -> None:
        """Adds the gradient of the weights for d loss / d hidden [R, hidden], and gives the graph up."""


class Trunk(Protocol):
    """A model's way from tokens to hidden states."""

    # Whether several runs may compute at the same time, each with a sink of its own.
    has_lanes: bool

    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> TrunkRun:
        """Hidden states of the rows that the outputs of a micro-batch read; there must be at least one."""

    def finish_gradients(self) -> None:
        """Makes what backward passes added visible in the parameters' `.grad`."""

    def drop_gradients(self) -> None:
        """Forgets what backward passes added and is not visible yet."""

    def computed_tokens(self, unit: TokenUnit, final_value: bool) -> int:
        """Tokens that the model reads for a unit laid out alone."""

    def graph_bytes_per_token(self) -> int:
        """About how many bytes a graph keeps for each computed token."""
