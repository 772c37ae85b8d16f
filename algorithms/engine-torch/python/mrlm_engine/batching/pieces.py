"""Cuts a unit above the token budget into units of some of its sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import Floats, TokenUnit, UnitGradients


def split_shard(shard: RankShard, cost: Callable[[TokenUnit], int], budget: int) -> list[RankShard]:
    """Returns `shard` itself, or a single unit above `budget` tokens as units of some of its sequences, in order.

    Each is as large as the budget allows, and one sequence at least. A budget of 0 splits nothing.
    """
    if budget == 0 or len(shard) != 1 or cost(shard[0]) <= budget:
        return [shard]
    unit = shard[0]
    pieces: list[RankShard] = []
    first = 0
    for end in range(1, len(unit.sequences) + 1):
        if end == len(unit.sequences) or cost(_part(unit, first, end + 1)) > budget:
            pieces.append([_part(unit, first, end)])
            first = end
    return pieces


def split_gradients(gradients: Sequence[UnitGradients], pieces: Sequence[RankShard]) -> list[list[UnitGradients]]:
    """Returns the gradients of a shard as those of its `pieces`; pieces beyond those of the shard are empty."""
    if len(gradients) != 1:
        return [list(gradients), *([] for _ in pieces[1:])]
    found: list[list[UnitGradients]] = []
    first = 0
    for piece in pieces:
        end = first + sum(unit.outputs for unit in piece)
        found.append([_cut(gradients[0], first, end)] if piece else [])
        first = end
    return found


def _part(unit: TokenUnit, first: int, end: int) -> TokenUnit:
    part = TokenUnit(unit.index, unit.sequences[first:end])
    if unit.gradients is None:
        return part
    before = sum(len(sequence.positions) for sequence in unit.sequences[:first])
    return TokenUnit(unit.index, part.sequences, _cut(unit.gradients, before, before + part.outputs))


def _cut(gradients: UnitGradients, first: int, end: int) -> UnitGradients:
    def cut(values: Floats | None) -> Floats | None:
        return None if values is None else values[first:end]

    return UnitGradients(cut(gradients.logprob), cut(gradients.entropy), cut(gradients.value))
