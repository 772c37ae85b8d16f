"""Tensors of which each rank holds a part (FSDP2's DTensors), and whole ones, by the same names."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import DTensor, Partial, distribute_tensor


def is_sharded(tensor: torch.Tensor) -> bool:
    """Whether this rank holds only a part."""
    return isinstance(tensor, DTensor)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """All of a tensor. A collective where it is sharded: every rank must take part."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def part(tensor: torch.Tensor) -> torch.Tensor:
    """What this rank holds, detached; it shares the tensor's memory."""
    detached = tensor.detach()
    return detached.to_local() if isinstance(detached, DTensor) else detached


def part_of(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The part of the whole `value` that a rank holds of a tensor that is laid out as `like`; no collective."""
    if not isinstance(like, DTensor):
        return value
    placed: Any = distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
    local: torch.Tensor = placed.to_local()
    return local


def whole_like(local: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The whole tensor whose parts are `local`, laid out as `like`. A collective where `like` is sharded."""
    if not isinstance(like, DTensor):
        return local
    return DTensor.from_local(
        local, like.device_mesh, like.placements, shape=like.shape, stride=like.stride()
    ).full_tensor()


def summed_part(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """This rank's part of the sum over the ranks of their whole `value`s. A collective."""
    assert isinstance(like, DTensor)
    partial = DTensor.from_local(value, like.device_mesh, [Partial()] * like.device_mesh.ndim, run_check=False)
    placed: Any = partial.redistribute(placements=like.placements)
    local: torch.Tensor = placed.to_local()
    return local
