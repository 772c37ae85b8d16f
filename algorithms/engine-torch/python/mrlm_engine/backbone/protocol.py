"""The protocol of a backbone, whichever way it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from mrlm_engine.batching.layout import OutputRows
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import PassGradients


class BackboneRun(Protocol):
    """One forward pass: the hidden states that outputs read, and its backward pass."""

    # [R, hidden], normalised, in the model's number format.
    hidden: torch.Tensor
    # Row of `hidden` that each output reads.
    rows: OutputRows
    # Tokens that the model read, padding included.
    computed_tokens: int
    # Bytes kept for the backward pass; 0 without one.
    graph_bytes: int

    def backward(self, grad_hidden: torch.Tensor, gradients: PassGradients) -> None:
        """Adds the gradient of the weights for d loss / d hidden [R, hidden], and frees the graph."""


class Backbone(Protocol):
    """The part of a model that computes hidden states from tokens."""

    # Whether several runs may compute at the same time, each with its own PassGradients.
    has_lanes: bool

    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> BackboneRun:
        """Returns the hidden states of the rows that the outputs of a micro-batch read; there must be at least one."""

    def finish_gradients(self, gradients: Sequence[PassGradients]) -> None:
        """Adds the `layers` of all `gradients`, in order, to the parameters' `.grad`, and clears them."""

    def token_cost(self, unit: TokenUnit, final_value: bool) -> int:
        """Returns the part of the token budget that a unit takes: the tokens that the model reads for it, and what else
        its graph keeps, in tokens of the same memory.
        """
