"""Gradients that accumulate between optimiser steps, in float32 whatever the model's number format."""

from __future__ import annotations

from collections.abc import Iterable

import torch


def accumulator(parameter: torch.nn.Parameter) -> torch.Tensor:
    """The `.grad` of a float32 parameter, zeros to begin with."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def add_gradient(parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
    """Adds to a float32 parameter's `.grad`."""
    accumulator(parameter).add_(gradient)


class GradientStore:
    """Accumulated gradients of a model's trainable parameters.

    A float32 parameter accumulates in its own `.grad`. One of a lower format accumulates in a float32 tensor beside it,
    since sums of many micro-batches would be rounded away.
    """

    def __init__(self, parameters: Iterable[tuple[str, torch.nn.Parameter]]) -> None:
        self.parameters = [(name, parameter) for name, parameter in parameters if parameter.requires_grad]
        self._wide: dict[int, torch.Tensor] = {}
        self._aside: list[tuple[torch.nn.Parameter, torch.Tensor]] = []

    def set_aside(self) -> None:
        """Puts what has accumulated aside, so that what comes now can still be given up by itself."""
        self._aside = [(parameter, gradient) for _, parameter, gradient in self.tensors()]
        self._drop()

    def merge(self) -> None:
        """Adds what was put aside to what has come since."""
        for parameter, gradient in self._aside:
            self.add(parameter, gradient)
        self._aside = []

    def give_up(self) -> None:
        """Forgets what has come since, and puts back what was set aside."""
        self._drop()
        self.merge()

    @torch.no_grad()
    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        """Adds `gradient`; nothing for a parameter that is frozen."""
        if parameter.requires_grad:
            self._accumulator(parameter).add_(gradient)

    @torch.no_grad()
    def add_product(self, parameter: torch.nn.Parameter, grad: torch.Tensor, inputs: torch.Tensor) -> None:
        """Adds grad' inputs, the gradient of a linear layer's weight, for grad [n, outputs] and inputs [n, columns]."""
        accumulator = self._accumulator(parameter)
        if accumulator.dtype == grad.dtype:
            accumulator.addmm_(grad.t(), inputs)
        else:
            accumulator.add_(torch.mm(grad.t(), inputs))

    @torch.no_grad()
    def absorb(self) -> None:
        """Moves what autograd left in lower formats to the float32 accumulators."""
        for _, parameter in self.parameters:
            if parameter.dtype != torch.float32 and parameter.grad is not None:
                self._accumulator(parameter).add_(parameter.grad)
                parameter.grad = None

    def tensors(self) -> list[tuple[str, torch.nn.Parameter, torch.Tensor]]:
        """(name, parameter, accumulated float32 gradient) of every parameter that has one."""
        found = []
        for name, parameter in self.parameters:
            gradient = parameter.grad if parameter.dtype == torch.float32 else self._wide.get(id(parameter))
            if gradient is not None:
                found.append((name, parameter, gradient))
        return found

    def clear(self) -> None:
        """Forgets everything accumulated."""
        self._aside = []
        self._drop()

    def _drop(self) -> None:
        self._wide.clear()
        for _, parameter in self.parameters:
            parameter.grad = None

    def _accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        if parameter.dtype == torch.float32:
            return accumulator(parameter)
        if id(parameter) not in self._wide:
            self._wide[id(parameter)] = torch.zeros_like(parameter, dtype=torch.float32)
        return self._wide[id(parameter)]
