"""Gradients that accumulate between optimizer steps, in float32 whatever the model's number format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch

from mrlm_engine.compute.collectives import any_rank, sum_over_ranks, world_size
from mrlm_engine.compute.mesh import SHARD, TENSOR, RankMesh
from mrlm_engine.compute.tensors import is_reduced, part, part_of, summed_part


def accumulator(parameter: torch.nn.Parameter) -> torch.Tensor:
    """Returns the `.grad` of a float32 parameter, zeros if it has none."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


class GradientStore:
    """Accumulated gradients of a model's trainable parameters.

    A float32 parameter accumulates in its own `.grad`. One of a lower format accumulates in a float32 tensor beside it,
    since sums of many micro-batches would be rounded away. Of a parameter that is divided among the ranks, `.grad` is
    this rank's part; gradients that are computed for all of it wait beside it until they are summed and divided.
    """

    def __init__(
        self,
        parameters: Iterable[tuple[str, torch.nn.Parameter]],
        mesh: RankMesh | None = None,
        partial: Iterable[torch.nn.Parameter] = (),
    ) -> None:
        """Of the parameters `partial` each rank along the mesh's `tensor` has a part of the sum."""
        self._mesh = mesh
        self._partial = {id(parameter) for parameter in partial}
        self.parameters = [(name, parameter) for name, parameter in parameters if parameter.requires_grad]
        self._wide: dict[int, torch.Tensor] = {}
        self._undivided: dict[int, torch.Tensor] = {}
        self._aside: list[tuple[torch.nn.Parameter, torch.Tensor]] = []

    def set_aside(self) -> None:
        """Sets the accumulated gradients aside, so that later ones can be given up alone."""
        self._aside = [(parameter, gradient) for _, parameter, gradient in self.tensors()]
        self._drop()

    @torch.no_grad()
    def sum_over_ranks(self) -> None:
        """Sums the gradients since the last `set_aside` over the ranks, each of which computed its shard of the units.

        A parameter that only some ranks have a gradient of counts as zero on the others.
        """
        # One rank has nothing to sum, but gradients of all of a divided parameter must be added to its part.
        if not self.parameters or (world_size() == 1 and not self._undivided):
            return
        found = {id(parameter) for _, parameter, _ in self.tensors() if not is_reduced(parameter)}
        found |= self._undivided.keys()
        flags = [id(parameter) in found for _, parameter in self.parameters]
        device = part(self.parameters[0][1]).device
        present = [
            parameter for (_, parameter), has in zip(self.parameters, any_rank(flags, device), strict=True) if has
        ]
        group = None if self._mesh is None else self._mesh.group(SHARD)
        sum_over_ranks([part(self._own(parameter)) for parameter in present if not is_reduced(parameter)], group)
        for parameter in present:
            if is_reduced(parameter):
                mine = summed_part(self.accumulator(parameter), parameter)
                del self._undivided[id(parameter)]
                part(accumulator(parameter)).add_(mine)
        if self._mesh is not None and self._partial:
            # Ranks along `tensor` have the same units, and so gradients of the same parameters.
            sums = [part(gradient) for _, parameter, gradient in self.tensors() if id(parameter) in self._partial]
            sum_over_ranks(sums, self._mesh.group(TENSOR))

    @torch.no_grad()
    def multiply(self, factor: float) -> None:
        """Multiplies the gradients since the last `set_aside`."""
        gradients = [part(gradient) for _, _, gradient in self.tensors()]
        if gradients:
            torch._foreach_mul_(gradients, factor)

    @torch.no_grad()
    def merge(self) -> None:
        """Adds the gradients that were set aside to the later ones."""
        for parameter, gradient in self._aside:
            part(self._own(parameter)).add_(part(gradient))
        self._aside = []

    def give_up(self) -> None:
        """Drops the gradients since the last `set_aside`, and restores those before it."""
        self._drop()
        self.merge()

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copies whole gradients by name."""
        for name, parameter in self.parameters:
            if name in tensors:
                part(self._own(parameter)).copy_(part_of(tensors[name], parameter))

    @torch.no_grad()
    def add(self, parameter: torch.nn.Parameter, gradient: torch.Tensor) -> None:
        """Adds a whole `gradient`; nothing for a parameter that is frozen."""
        if parameter.requires_grad:
            self.accumulator(parameter).add_(gradient)

    @torch.no_grad()
    def absorb(self) -> None:
        """Moves gradients of autograd in lower formats to the float32 accumulators."""
        for _, parameter in self.parameters:
            if parameter.dtype != torch.float32 and parameter.grad is not None:
                part(self._own(parameter)).add_(part(parameter.grad))
                parameter.grad = None

    def tensors(self) -> list[tuple[str, torch.nn.Parameter, torch.Tensor]]:
        """Returns (name, parameter, accumulated float32 gradient) of every parameter that has one."""
        found = []
        for name, parameter in self.parameters:
            gradient = parameter.grad if parameter.dtype == torch.float32 else self._wide.get(id(parameter))
            if gradient is not None:
                found.append((name, parameter, gradient))
        return found

    def clear(self) -> None:
        """Drops all gradients."""
        self._aside = []
        self._drop()

    def _drop(self) -> None:
        self._wide.clear()
        self._undivided.clear()
        for _, parameter in self.parameters:
            parameter.grad = None

    def accumulator(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        """Returns float32 tensor that whole gradients are added to."""
        if not is_reduced(parameter):
            return self._own(parameter)
        if id(parameter) not in self._undivided:
            zeros = torch.zeros(parameter.shape, dtype=torch.float32, device=part(parameter).device)
            self._undivided[id(parameter)] = zeros
        return self._undivided[id(parameter)]

    def _own(self, parameter: torch.nn.Parameter) -> torch.Tensor:
        """Returns float32 sums of this rank: all of the gradient, or its part."""
        if parameter.dtype == torch.float32:
            return accumulator(parameter)
        if id(parameter) not in self._wide:
            self._wide[id(parameter)] = torch.zeros_like(parameter, dtype=torch.float32)
        return self._wide[id(parameter)]
