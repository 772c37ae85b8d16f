"""Conversion between packed rows [T, columns] and the padded per-head tensors that attention multiplies."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from mrlm_engine.batching.prefix_layout import AttentionGroup
from mrlm_engine.llama.shape import LlamaShape


@dataclass(frozen=True)
class HeadTensors:
    """Contiguous inputs of one group's attention; n segments, g key heads, r query heads for each of them.

    query [n, g, r * longest, d]; key, value [n, g, prefix + longest, d]: the parent's, then the segment's own.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor


def gather_heads(qkv: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> HeadTensors:
    """Reads one group's heads from the packed projections [T, query + key + value columns]."""
    own = _padded(qkv[group.start : group.end], group)
    q, k = shape.query_width, shape.key_width
    query = _split(own[..., :q], shape.key_heads, shape.heads // shape.key_heads, shape.head_size)
    return HeadTensors(
        query.permute(0, 2, 3, 1, 4).reshape(len(group.lengths), shape.key_heads, -1, shape.head_size),
        _with_prefix(own[..., q : q + k], qkv[:, q : q + k], group, shape),
        _with_prefix(own[..., q + k :], qkv[:, q + k :], group, shape),
    )


def scatter_output(heads: torch.Tensor, into: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> None:
    """Writes attention results [n, g, r * longest, d] to the group's rows of `into` [T, query columns]."""
    _write(into[group.start : group.end], _query_rows(heads, group, shape), group)


def gather_output_gradient(grad: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> torch.Tensor:
    """Returns the gradient of attention results as [n, g, r * longest, d]; zero in padding."""
    own = _padded(grad[group.start : group.end], group)
    if group.scatter is not None:
        padded = torch.zeros_like(own)
        padded.view(-1, own.shape[-1])[group.scatter] = grad[group.start : group.end]
        own = padded
    heads = _split(own, shape.key_heads, shape.heads // shape.key_heads, shape.head_size)
    return heads.permute(0, 2, 3, 1, 4).reshape(len(group.lengths), shape.key_heads, -1, shape.head_size)


def scatter_gradients(grads: HeadTensors, into: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> None:
    """Writes gradients of the heads to the group's rows of `into` [T, columns]; those of parents are added."""
    q, k = shape.query_width, shape.key_width
    rows = into[group.start : group.end]
    _write(rows[:, :q], _query_rows(grads.query, group, shape), group)
    for grad, column in ((grads.key, q), (grads.value, q + k)):
        own = grad[:, :, group.prefix :].transpose(1, 2)
        _write(rows[:, column : column + k], own, group)
        for start, first, end in group.parents:
            shared = grad[first:end, :, : group.prefix].sum(0).transpose(0, 1)
            parent = into[start : start + group.prefix, column : column + k]
            parent.view(group.prefix, shape.key_heads, shape.head_size).add_(shared)


def _padded(rows: torch.Tensor, group: AttentionGroup) -> torch.Tensor:
    """Returns the rows [T', columns] as [n, longest, columns]; a view where all lengths are equal."""
    if group.gather is not None:
        rows = rows.index_select(0, group.gather)
    return rows.view(len(group.lengths), group.longest, rows.shape[-1])


def _write(rows: torch.Tensor, padded: torch.Tensor, group: AttentionGroup) -> None:
    """Writes [n, longest, ...] to packed `rows` [T', columns], leaving padding out."""
    if group.scatter is None:
        rows.view(padded.shape).copy_(padded)
    else:
        flat = padded.reshape(-1, rows.shape[-1])
        rows.copy_(flat.index_select(0, group.scatter))


def _split(rows: torch.Tensor, *sizes: int) -> torch.Tensor:
    return rows.view(*rows.shape[:-1], *sizes)


def _query_rows(heads: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> torch.Tensor:
    """Returns [n, g, r * longest, d] as [n, longest, g, r, d]."""
    ratio = shape.heads // shape.key_heads
    split = heads.view(len(group.lengths), shape.key_heads, ratio, group.longest, shape.head_size)
    return split.permute(0, 3, 1, 2, 4)


def _with_prefix(own: torch.Tensor, rows: torch.Tensor, group: AttentionGroup, shape: LlamaShape) -> torch.Tensor:
    """Returns the keys or values [n, g, prefix + longest, d] from the group's own [n, longest, g * d] and all packed
    `rows`.
    """
    size = (len(group.lengths), shape.key_heads, group.prefix + group.longest, shape.head_size)
    result = own.new_empty(size)
    result[:, :, group.prefix :] = _split(own, shape.key_heads, shape.head_size).transpose(1, 2)
    for start, first, end in group.parents:
        parent = _split(rows[start : start + group.prefix], shape.key_heads, shape.head_size)
        result[first:end, :, : group.prefix] = parent.transpose(0, 1)
    return result
