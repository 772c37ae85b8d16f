"""A micro-batch as one row without padding, for modules whose attention keeps the segments of the row apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from mrlm_engine.batching.layout import OutputRows, output_rows
from mrlm_engine.batching.prefix_layout import rows_of, segments_of
from mrlm_engine.batching.unit import TokenUnit


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Segments of a row: queries of each, and the keys that they attend to, of the parent and then their own.

    `spans`        (first, end, first of the parent, end of the parent) of each segment; the last two are equal without
                   a parent
    `query_bounds` [S + 1] int32, where each segment begins, and the number of tokens
    `key_bounds`   [S + 1] int32, the same for the keys, in the order of `key_rows`
    `key_rows`     [K] rows of all keys, segment by segment; None where no segment has a parent, and they are the tokens
    `windows`      those of the layers that have read this, 0 for one without
    `widths`       their numbers of heads and of key heads, and sizes of a key and of a value
    """

    spans: tuple[tuple[int, int, int, int], ...]
    query_bounds: torch.Tensor
    key_bounds: torch.Tensor
    longest_query: int
    longest_key: int
    key_rows: torch.Tensor | None
    windows: set[int] = field(default_factory=set)
    widths: set[tuple[int, int, int, int]] = field(default_factory=set)


@dataclass(frozen=True)
class PackedLayout:
    """`tokens` and `positions` [1, T], the segments of the row, and the rows of the outputs."""

    tokens: torch.Tensor
    positions: torch.Tensor
    packed: PackedRows
    outputs: OutputRows

    @property
    def computed_tokens(self) -> int:
        """Number of tokens, T."""
        return self.tokens.numel()

    @property
    def keys(self) -> int:
        """Number of keys of all segments, K: those of a parent count for each child too."""
        rows = self.packed.key_rows
        return self.computed_tokens if rows is None else rows.numel()


def packed_layout(units: Sequence[TokenUnit], final_value: bool, device: torch.device) -> PackedLayout:
    """Lays `units` out; the common prefix of a unit's sequences is there once."""
    segments, chains = segments_of(units, final_value)
    start = 0
    for segment in segments:
        segment.start = start
        start += len(segment.tokens)
    spans = []
    for segment in segments:
        parent = segment.parent
        before = (0, 0) if parent is None else (parent.start, parent.start + len(parent.tokens))
        spans.append((segment.start, segment.start + len(segment.tokens), *before))
    queries = [end - first for first, end, _, _ in spans]
    keys = [end - first + stop - begin for first, end, begin, stop in spans]
    has_parents = any(stop > begin for _, _, begin, stop in spans)
    rows = [np.r_[begin:stop, first:end] for first, end, begin, stop in spans]

    def tensor(values: NDArray[np.int64] | NDArray[np.int32]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    positions = [np.arange(segment.offset, segment.offset + len(segment.tokens)) for segment in segments]
    return PackedLayout(
        tokens=tensor(np.concatenate([segment.tokens for segment in segments]).astype(np.int64))[None],
        positions=tensor(np.concatenate(positions))[None],
        packed=PackedRows(
            tuple(spans),
            tensor(np.cumsum([0, *queries], dtype=np.int32)),
            tensor(np.cumsum([0, *keys], dtype=np.int32)),
            max(queries),
            max(keys),
            tensor(np.concatenate(rows).astype(np.int64)) if has_parents else None,
        ),
        outputs=output_rows(units, [rows_of(chain) for chain in chains], final_value, device),
    )
