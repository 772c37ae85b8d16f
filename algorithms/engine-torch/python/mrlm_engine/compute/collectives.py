"""Sums over the ranks of the process group. With one rank they change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist

# Numbers per collective: enough to hide its latency, and few enough for a copy of them (128 MiB).
BUCKET_NUMBERS = 1 << 25


def world_size() -> int:
    """Returns the number of ranks in the process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def is_leader() -> bool:
    """Whether this is rank 0, the only one that writes files."""
    return world_size() == 1 or dist.get_rank() == 0


def sum_over_ranks(tensors: Sequence[torch.Tensor], group: Any = None) -> None:
    """Replaces each tensor by its sum over the ranks, or those of `group`, the same bits on all of them.

    All have the same format.
    """
    if world_size() == 1:
        return
    for bucket in _buckets(tensors):
        flat = torch.cat([tensor.reshape(-1) for tensor in bucket])
        dist.all_reduce(flat, group=group)
        for tensor, part in zip(bucket, torch.split(flat, [t.numel() for t in bucket]), strict=True):
            tensor.copy_(part.view(tensor.shape))


def any_rank(flags: Sequence[bool], device: torch.device) -> list[bool]:
    """Returns, for each flag, whether it is set on any rank."""
    if world_size() == 1 or not flags:
        return list(flags)
    counts = torch.tensor(flags, dtype=torch.int32, device=device)
    dist.all_reduce(counts)
    return [bool(count) for count in counts.tolist()]


def _buckets(tensors: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    bucket: list[torch.Tensor] = []
    size = 0
    for tensor in tensors:
        if bucket and size + tensor.numel() > BUCKET_NUMBERS:
            yield bucket
            bucket, size = [], 0
        bucket.append(tensor)
        size += tensor.numel()
    if bucket:
        yield bucket
