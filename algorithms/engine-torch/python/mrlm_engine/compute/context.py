"""Exchange between ranks that have parts of the tokens of one row (context parallel).

`swap` is the exchange of DeepSpeed-Ulysses (Jacobs et al., arXiv 2309.14509). Both functions have gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist


@dataclass(frozen=True, eq=False)
class ContextGroup:
    """This rank's `index` among the `count` ranks of a row, and their process group."""

    index: int
    count: int
    group: Any

    def swap(self, tensor: torch.Tensor, split: int, join: int) -> torch.Tensor:
        """Divides dimension `split` among the ranks, and joins their parts along dimension `join`."""
        swapped: torch.Tensor = _Swap.apply(tensor, self, split, join)  # type: ignore[no-untyped-call]
        return swapped

    def gather(self, tensor: torch.Tensor, dimension: int) -> torch.Tensor:
        """Joins the tensors of all ranks along `dimension`. Its backward pass sums over the ranks."""
        gathered: torch.Tensor = _Gather.apply(tensor, self, dimension)  # type: ignore[no-untyped-call]
        return gathered

    @torch.no_grad()
    def merge(self, values: torch.Tensor, places: torch.Tensor, count: int) -> torch.Tensor:
        """Returns `count` values [count, ...], of which each rank has some [n, ...] at its `places` [n]."""
        merged = values.new_zeros(count, *values.shape[1:])
        merged[places] = values
        dist.all_reduce(merged, group=self.group)
        return merged

    def exchange(self, pieces: list[torch.Tensor]) -> list[torch.Tensor]:
        """Sends a piece to each rank, and returns those of all ranks for this one, in order."""
        received = [torch.empty_like(piece) for piece in pieces]
        if dist.get_backend(self.group) != "gloo":
            dist.all_to_all(received, pieces, group=self.group)
            return received
        # gloo has no `all_to_all`.
        others = [rank for rank in range(self.count) if rank != self.index]
        work = [dist.irecv(received[rank], group=self.group, group_src=rank) for rank in others]
        work += [dist.isend(pieces[rank], group=self.group, group_dst=rank) for rank in others]
        received[self.index].copy_(pieces[self.index])
        for each in work:
            assert each is not None
            each.wait()
        return received


class _Swap(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, group: ContextGroup, split: int, join: int) -> torch.Tensor:
        ctx.group, ctx.dimensions = group, (split, join)
        return _swapped(tensor, group, split, join)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        split, join = ctx.dimensions
        return _swapped(gradient, ctx.group, join, split), None, None, None


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, group: ContextGroup, dimension: int) -> torch.Tensor:
        ctx.group, ctx.dimension = group, dimension
        own = tensor.contiguous()
        parts = [torch.empty_like(own) for _ in range(group.count)]
        dist.all_gather(parts, own, group=group.group)
        return torch.cat(parts, dimension)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        pieces = [piece.contiguous() for piece in gradient.chunk(ctx.group.count, ctx.dimension)]
        return torch.stack(ctx.group.exchange(pieces)).sum(0), None, None


def _swapped(tensor: torch.Tensor, group: ContextGroup, split: int, join: int) -> torch.Tensor:
    pieces = [piece.contiguous() for piece in tensor.chunk(group.count, split)]
    return torch.cat(group.exchange(pieces), join)
