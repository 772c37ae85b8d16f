"""Tensors of which each rank holds a part (DTensors), and whole ones, by the same names."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Partial, distribute_tensor

from mrlm_engine.compute.mesh import SHARD


def is_sharded(tensor: torch.Tensor) -> bool:
    """Whether this rank holds only a part of the tensor."""
    return isinstance(tensor, DTensor)


def is_reduced(parameter: torch.Tensor) -> bool:
    """Whether FSDP2 sums a parameter's gradients of autograd over the ranks that hold its parts."""
    return isinstance(parameter, DTensor) and SHARD in (parameter.device_mesh.mesh_dim_names or ())


def copies(tensor: torch.Tensor, ranks: int) -> int:
    """Returns how many of `ranks` ranks have the same part of the tensor."""
    if not isinstance(tensor, DTensor):
        return ranks
    parts = [tensor.device_mesh.size(i) for i, placed in enumerate(tensor.placements) if placed.is_replicate()]
    return math.prod(parts) * ranks // tensor.device_mesh.size()


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the whole tensor. A collective if it is sharded: every rank must take part."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def part(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the part of this rank, detached. It shares memory with the tensor."""
    detached = tensor.detach()
    return detached.to_local() if isinstance(detached, DTensor) else detached


def part_of(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Returns this rank's part of the whole `value` in the layout of `like`. No collective."""
    if not isinstance(like, DTensor):
        return value
    placed: Any = distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
    local: torch.Tensor = placed.to_local()
    return local


def whole_like(local: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Returns the whole tensor of the parts `local` in the layout of `like`. A collective if `like` is sharded."""
    if not isinstance(like, DTensor):
        return local
    return DTensor.from_local(
        local, like.device_mesh, like.placements, shape=like.shape, stride=like.stride()
    ).full_tensor()


def summed_part(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Sums the whole `value`s of all ranks and returns this rank's part of the sum. A collective."""
    assert isinstance(like, DTensor)
    partial = DTensor.from_local(value, like.device_mesh, [Partial()] * like.device_mesh.ndim, run_check=False)
    placed: Any = partial.redistribute(placements=like.placements)
    local: torch.Tensor = placed.to_local()
    return local
