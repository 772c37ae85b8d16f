"""Packs a micro-batch without padding. The common prefix of a unit's sequences is computed once.

A segment is a run of tokens that attends to itself causally and, if it has a parent (its unit's common prefix), to all
of the parent. Segments are ordered so that those of one attention group are adjacent in the packed stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mrlm_engine.batching.layout import OutputRows, output_rows
from mrlm_engine.batching.unit import Tokens, TokenUnit
from mrlm_engine.compute.matmul import missing_rows

# Least number of saved tokens for a shared prefix, because it splits attention into two groups.
MIN_SAVED_TOKENS = 8
# A group of segments is padded to its longest for attention. It is split if its padded size exceeds this ratio.
MAX_ATTENTION_PADDING = 1.2


@dataclass
class Segment:
    """`tokens` at position ids `offset`, `offset + 1`, ...; `start` is the row of the first in the packed stream."""

    tokens: Tokens
    offset: int
    parent: Segment | None = None
    start: int = -1


@dataclass(frozen=True)
class AttentionGroup:
    """Segments that attend in one padded call: rows start..end of the packed stream.

    `lengths` [n] of the segments in order; `parents` the (start, first segment, end segment) of each distinct parent
    with its children, empty for segments without; `prefix` the parents' common length. `gather` [n * longest] and
    `scatter` [end - start] translate between packed and padded rows, None where all lengths are equal.
    """

    start: int
    end: int
    lengths: tuple[int, ...]
    longest: int
    prefix: int
    parents: tuple[tuple[int, int, int], ...]
    gather: torch.Tensor | None
    scatter: torch.Tensor | None


@dataclass(frozen=True)
class PrefixLayout:
    """A packed micro-batch: `tokens` and `positions` [T], attention groups that cover its rows, rows of outputs.

    The last `padding` rows belong to no sequence: nothing attends to them, and no output reads them.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    groups: tuple[AttentionGroup, ...]
    outputs: OutputRows
    max_position: int
    padding: int

    @property
    def length(self) -> int:
        """Number of tokens, T."""
        return int(self.tokens.shape[0])

    @property
    def computed_tokens(self) -> int:
        """Number of tokens that belong to sequences."""
        return self.length - self.padding


def common_prefix(sequences: Sequence[Tokens]) -> int:
    """Returns the length of the longest common prefix of all `sequences`."""
    shortest = min(len(s) for s in sequences)
    stacked = np.stack([s[:shortest] for s in sequences])
    differs = (stacked != stacked[0]).any(axis=0)
    return int(differs.argmax()) if differs.any() else shortest


def shared_prefix(unit: TokenUnit, final_value: bool) -> int:
    """Returns the number of leading tokens of a unit's sequences that are computed once; 0 where a shared prefix is
    not faster.
    """
    needed = [s.tokens[: s.needed(final_value)] for s in unit.sequences if s.needed(final_value)]
    if len(needed) < 2:
        return 0
    prefix = common_prefix(needed)
    return prefix if prefix * (len(needed) - 1) >= MIN_SAVED_TOKENS else 0


def packed_size(unit: TokenUnit, final_value: bool) -> tuple[int, int]:
    """Returns the tokens that the model reads for a unit with a shared prefix, and the keys of its segments: the
    prefix once more for each of its children.
    """
    prefix = shared_prefix(unit, final_value)
    lengths = [n for n in (s.needed(final_value) for s in unit.sequences) if n]
    tokens = sum(lengths) - prefix * max(0, len(lengths) - 1)
    return tokens, tokens + prefix * sum(n > prefix for n in lengths)


def segments_of(units: Sequence[TokenUnit], final_value: bool) -> tuple[list[Segment], list[list[Segment]]]:
    """Cuts `units` into segments, each behind its parent, and returns them with the chain of segments of each sequence.

    Leaves out tokens that no output reads (the last of most sequences).
    """
    segments: list[Segment] = []
    chains: list[list[Segment]] = []
    for unit in units:
        prefix = shared_prefix(unit, final_value)
        parent = None
        if prefix:
            first = next(s for s in unit.sequences if s.needed(final_value))
            parent = Segment(first.tokens[:prefix], 0)
            segments.append(parent)
        for sequence in unit.sequences:
            needed = sequence.needed(final_value)
            chain = [parent] if parent is not None and needed else []
            if needed > prefix:
                own = Segment(sequence.tokens[prefix:needed], prefix, parent)
                segments.append(own)
                chain.append(own)
            chains.append(chain)
    return segments, chains


def prefix_layout(units: Sequence[TokenUnit], final_value: bool, device: torch.device) -> PrefixLayout:
    """Lays `units` out. Leaves out tokens that no output reads (the last of most sequences)."""
    segments, chains = segments_of(units, final_value)
    ordered = sorted(segments, key=_group_order)
    start = 0
    for segment in ordered:
        segment.start = start
        start += len(segment.tokens)
    row_of = [rows_of(chain) for chain in chains]
    positions = [np.arange(s.offset, s.offset + len(s.tokens)) for s in ordered]
    padding = missing_rows(start, device)
    return PrefixLayout(
        tokens=_tensor([s.tokens for s in ordered], padding, device),
        positions=_tensor(positions, padding, device),
        groups=tuple(_group(members, device) for members in _split(ordered)),
        outputs=output_rows(units, row_of, final_value, device),
        max_position=max((s.offset + len(s.tokens) for s in ordered), default=0),
        padding=padding,
    )


def _group_order(segment: Segment) -> tuple[int, int]:
    """Sorts parents and single segments by length, then children by their parent's length (children stay together)."""
    if segment.parent is None:
        return (-1, len(segment.tokens))
    return (segment.offset, 0)


def _split(ordered: list[Segment]) -> list[list[Segment]]:
    """Cuts the ordered segments into attention groups: same prefix length, bounded padding, whole families."""
    groups: list[list[Segment]] = []
    for segment in ordered:
        group = groups[-1] if groups else None
        if group is None or group[0].offset != segment.offset or (group[0].parent is None) != (segment.parent is None):
            groups.append([segment])
            continue
        family = segment.parent is not None and segment.parent is group[-1].parent
        lengths = [len(s.tokens) for s in group] + [len(segment.tokens)]
        padded = max(lengths) * len(lengths)
        if not family and padded > MAX_ATTENTION_PADDING * sum(lengths):
            groups.append([segment])
        else:
            group.append(segment)
    return groups


def _group(members: list[Segment], device: torch.device) -> AttentionGroup:
    lengths = [len(s.tokens) for s in members]
    longest = max(lengths)
    start = members[0].start
    parents: list[tuple[int, int, int]] = []
    for i, segment in enumerate(members):
        if segment.parent is None:
            continue
        if parents and parents[-1][0] == segment.parent.start:
            parents[-1] = (parents[-1][0], parents[-1][1], i + 1)
        else:
            parents.append((segment.parent.start, i, i + 1))
    gather = scatter = None
    if min(lengths) != longest:
        column = np.arange(longest)
        starts = np.asarray([s.start - start for s in members])
        last = np.asarray(lengths)[:, None] - 1
        # Padding repeats the last row of a segment. Its results are never read.
        gather = torch.from_numpy((starts[:, None] + np.minimum(column, last)).reshape(-1)).to(device)
        rows = [i * longest + np.arange(n) for i, n in enumerate(lengths)]
        scatter = torch.from_numpy(np.concatenate(rows)).to(device)
    return AttentionGroup(
        start=start,
        end=start + sum(lengths),
        lengths=tuple(lengths),
        longest=longest,
        prefix=members[0].offset,
        parents=tuple(parents),
        gather=gather,
        scatter=scatter,
    )


def rows_of(chain: list[Segment]) -> NDArray[np.int64]:
    """Returns the rows of the packed stream that hold the tokens of a sequence, once every `start` is set."""
    parts = [np.arange(s.start, s.start + len(s.tokens), dtype=np.int64) for s in chain]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _tensor(
    parts: Sequence[NDArray[np.int32]] | Sequence[NDArray[np.int64]], zeros: int, device: torch.device
) -> torch.Tensor:
    """Joins `parts` and appends zeros."""
    joined = np.concatenate([*(part.astype(np.int64) for part in parts), np.zeros(zeros, np.int64)])
    return torch.from_numpy(joined).to(device)
