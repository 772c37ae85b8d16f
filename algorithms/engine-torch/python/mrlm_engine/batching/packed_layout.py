"""A micro-batch as one row without padding, for modules whose attention keeps the segments of the row apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from mrlm_engine.batching.layout import OutputRows, output_rows
from mrlm_engine.batching.prefix_layout import Segment, rows_of, segments_of
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.compute.context import ContextGroup

# First and end of the queries, first and end of the parent's keys, and first of the own keys.
Span = tuple[int, int, int, int, int]


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Segments of a row: queries of each, and the keys that they attend to, of the parent and then their own.

    `spans`        (first, end, first of the parent, end of the parent, first key) of each segment; those of the parent
                   are equal without one, and the own keys, which end with the queries, begin with them unless another
                   rank has the first queries of the segment
    `start`        row of the first query
    `query_bounds` [S + 1] int32, where each segment begins, and the number of tokens
    `key_bounds`   [S + 1] int32, the same for the keys, in the order of `key_rows`
    `key_rows`     [K] rows of all keys, segment by segment; None where they are the queries
    `windows`      those of the layers that have read this, 0 for one without
    `widths`       their numbers of heads and of key heads, and sizes of a key and of a value
    `context`      ranks that have parts of the row, each as many queries; None where this one has all of it
    `own`          the queries of this rank among the keys of the whole row; None without `context`
    """

    spans: tuple[Span, ...]
    start: int
    query_bounds: torch.Tensor
    key_bounds: torch.Tensor
    longest_query: int
    longest_key: int
    key_rows: torch.Tensor | None
    windows: set[int] = field(default_factory=set)
    widths: set[tuple[int, int, int, int]] = field(default_factory=set)
    context: ContextGroup | None = None
    own: PackedRows | None = None


@dataclass(frozen=True)
class PackedLayout:
    """`tokens` and `positions` [1, T] of this rank, the segments of the row, and the rows of the outputs."""

    tokens: torch.Tensor
    positions: torch.Tensor
    packed: PackedRows
    outputs: OutputRows

    @property
    def computed_tokens(self) -> int:
        """Number of tokens of the row, on all ranks that have a part of it."""
        return self.tokens.numel() * (1 if self.packed.context is None else self.packed.context.count)

    @property
    def keys(self) -> int:
        """Number of keys of all segments, K: those of a parent count for each child too."""
        rows = self.packed.key_rows
        return self.computed_tokens if rows is None else rows.numel()


def packed_layout(
    units: Sequence[TokenUnit], final_value: bool, device: torch.device, context: ContextGroup | None = None
) -> PackedLayout:
    """Lays `units` out; the common prefix of a unit's sequences is there once.

    Each rank of `context` has a part of the row. They are equal: tokens that no output reads fill the last one.
    """
    segments, chains = segments_of(units, final_value)
    start = 0
    for segment in segments:
        segment.start = start
        start += len(segment.tokens)
    ranks = 1 if context is None else context.count
    if filling := -start % ranks:
        segments.append(Segment(np.zeros(filling, np.int32), 0, None, start))
    spans: list[Span] = []
    for segment in segments:
        parent = segment.parent
        before = (0, 0) if parent is None else (parent.start, parent.start + len(parent.tokens))
        spans.append((segment.start, segment.start + len(segment.tokens), *before, segment.start))
    tokens = np.concatenate([segment.tokens for segment in segments]).astype(np.int64)
    positions = np.concatenate([np.arange(s.offset, s.offset + len(s.tokens)) for s in segments])
    packed, within = _packed_rows(spans, None, device), None
    if context is not None:
        size = len(tokens) // ranks
        within = range(context.index * size, (context.index + 1) * size)
        cut = [(max(a, within.start), min(b, within.stop), c, d, own) for a, b, c, d, own in spans]
        # With the keys of all ranks. Segments that have no query here are left out.
        part = _packed_rows([span for span in cut if span[0] < span[1]], within.start, device)
        packed = dataclasses.replace(packed, context=context, own=part)
        tokens, positions = tokens[within.start : within.stop], positions[within.start : within.stop]
    return PackedLayout(
        tokens=torch.from_numpy(tokens).to(device)[None],
        positions=torch.from_numpy(positions).to(device)[None],
        packed=packed,
        outputs=output_rows(units, [rows_of(chain) for chain in chains], final_value, device, within),
    )


def _packed_rows(spans: Sequence[Span], start: int | None, device: torch.device) -> PackedRows:
    """Returns the segments of a whole row, or of the part of a row that begins at `start`."""
    queries = [end - first for first, end, *_ in spans]
    keys = [end - own + stop - begin for _, end, begin, stop, own in spans]
    are_queries = start is None and queries == keys
    rows = [np.r_[begin:stop, own:end] for _, end, begin, stop, own in spans]

    def tensor(values: NDArray[np.int64] | NDArray[np.int32]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return PackedRows(
        tuple(spans),
        start or 0,
        tensor(np.cumsum([0, *queries], dtype=np.int32)),
        tensor(np.cumsum([0, *keys], dtype=np.int32)),
        max(queries),
        max(keys),
        None if are_queries else tensor(np.concatenate(rows).astype(np.int64)),
    )
