"""Destinations of the gradients of backward passes."""

from __future__ import annotations

from typing import Any, Protocol

import torch


class GradientSink(Protocol):
    """Float32 sums of the gradients of parameters."""

    def accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        """Returns the float32 tensor that the gradient of all of `parameter` is added to."""

    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        """Adds a whole `gradient`; nothing for a parameter that is frozen."""


class GradientSums:
    """A GradientSink in addition to the model's GradientStore, for passes that run at the same time as those of the
    store.
    """

    def __init__(self) -> None:
        self._sums: dict[torch.nn.Parameter, torch.Tensor] = {}

    def accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        if parameter not in self._sums:
            self._sums[parameter] = torch.zeros_like(parameter, dtype=torch.float32)
        return self._sums[parameter]

    @torch.no_grad()
    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        if parameter.requires_grad:
            self.accumulator(parameter).add_(gradient)

    def move_to(self, other: GradientSink) -> None:
        """Adds every sum to `other` and clears it here."""
        for parameter, gradient in self._sums.items():
            other.add(parameter, gradient)
        self._sums.clear()

    def clear(self) -> None:
        """Drops every sum."""
        self._sums.clear()


class PassGradients:
    """Gradients of backward passes that run one after the other: of parameters, and of a backbone's own weights."""

    def __init__(self, sink: GradientSink) -> None:
        self.sink = sink
        # Sums of each layer in the layout of the backbone. It fills the list, and adds it to the parameters at the end
        # of a pass. A backbone that adds to `sink` or to `.grad` alone leaves it empty.
        self.layers: list[Any] = []
