"""Where the backward passes of one lane add gradients."""

from __future__ import annotations

from typing import Protocol

import torch

from mrlm_engine.compute.matmul import add_weight_gradient_


class GradientSink(Protocol):
    """What a backward pass adds to; one for each lane, so that passes of several lanes can run at the same time."""

    lane: int

    def accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        """The float32 tensor that the gradient of all of `parameter` is added to."""

    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        """Adds a whole `gradient`; nothing for a parameter that is frozen."""

    def add_product(self, parameter: torch.nn.Parameter, grad: torch.Tensor, inputs: torch.Tensor) -> None:
        """Adds grad' inputs, the gradient of a linear layer's weight, for grad [n, outputs] and inputs [n, columns]."""


class LaneGradients:
    """Float32 gradients of a lane beside the first, whose sink is the model's GradientStore itself."""

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self._sums: dict[torch.nn.Parameter, torch.Tensor] = {}

    def accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        if parameter not in self._sums:
            self._sums[parameter] = torch.zeros_like(parameter, dtype=torch.float32)
        return self._sums[parameter]

    @torch.no_grad()
    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        if parameter.requires_grad:
            self.accumulator(parameter).add_(gradient)

    @torch.no_grad()
    def add_product(self, parameter: torch.nn.Parameter, grad: torch.Tensor, inputs: torch.Tensor) -> None:
        add_weight_gradient_(self.accumulator(parameter), grad, inputs)

    def move_to(self, other: GradientSink) -> None:
        """Adds everything to `other` and forgets it."""
        for parameter, gradient in self._sums.items():
            other.add(parameter, gradient)
        self._sums.clear()

    def clear(self) -> None:
        """Forgets everything."""
        self._sums.clear()
