"""Puts units into micro-batches of whole units under a token budget, and divides each among the ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mrlm_engine.batching.unit import TokenUnit

# Units of a micro-batch that one rank computes.
RankShard = list[TokenUnit]


def plan_micro_batches(
    units: Sequence[TokenUnit], cost: Callable[[TokenUnit], int], budget: int, ranks: int = 1
) -> list[list[RankShard]]:
    """Returns the micro-batches of one shard for each rank, whose costs (computed tokens) sum to at most `budget`.

    A unit above the budget is alone in its shard; a shard may be empty. Units of similar length come together, longest
    first, so that what does not fit into memory shows at once; each goes to the rank with the least to do. The result
    depends on the units alone.
    """
    costs = {unit.index: cost(unit) for unit in units}
    longest = {unit.index: max(len(s.tokens) for s in unit.sequences) for unit in units}
    ordered = sorted(units, key=lambda unit: (-longest[unit.index], -costs[unit.index], unit.index))
    batches: list[list[RankShard]] = []
    used: list[int] = []
    for unit in ordered:
        rank = used.index(min(used)) if used else 0
        if not batches or (batches[-1][rank] and used[rank] + costs[unit.index] > budget):
            batches.append([[] for _ in range(ranks)])
            used, rank = [0] * ranks, 0
        batches[-1][rank].append(unit)
        used[rank] += costs[unit.index]
    return batches
