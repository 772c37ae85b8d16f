"""The published weights of a sampler, for readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class PublishedWeights:
    """Weights of one version, by state-dict name. Reading a tensor fails when another version has been published."""

    version: int
    checksum: str
    tensors: dict[str, torch.Tensor]
    # Calls a function while the weights of a version cannot change; raises WEIGHTS_VERSION if they have.
    read: Callable[[int, Callable[[], Any]], Any]

    def unique(self) -> Iterator[tuple[str, torch.Tensor, str]]:
        """Yields name, tensor and the name of an earlier tensor with the same memory; "" without one."""
        seen: dict[tuple[Any, ...], str] = {}
        for name, tensor in self.tensors.items():
            place = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
            same = seen.setdefault(place, name) if tensor.numel() else name
            yield name, tensor, "" if same == name else same

    def copies(self) -> Iterator[torch.Tensor]:
        """Yields each tensor once as contiguous memory of the CPU."""
        for _, tensor, same_as in self.unique():
            if not same_as:
                copy: torch.Tensor = self.read(self.version, lambda tensor=tensor: _copy(tensor))  # type: ignore[misc]
                yield copy


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    copy = tensor.detach().to("cpu", copy=True)
    return copy.contiguous()
