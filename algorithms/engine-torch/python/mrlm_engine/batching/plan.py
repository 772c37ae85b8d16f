"""Puts units into micro-batches of whole units under a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mrlm_engine.batching.unit import TokenUnit


def plan_micro_batches(
    units: Sequence[TokenUnit], cost: Callable[[TokenUnit], int], budget: int
) -> list[list[TokenUnit]]:
    """Micro-batches whose costs (computed tokens) sum to at most `budget`, a unit above it alone in one.

    Units of similar length come together, longest first, so that what does not fit into memory shows at once. The
    result depends on the units alone.
    """
    costs = {unit.index: cost(unit) for unit in units}
    longest = {unit.index: max(len(s.tokens) for s in unit.sequences) for unit in units}
    ordered = sorted(units, key=lambda unit: (-longest[unit.index], -costs[unit.index], unit.index))
    batches: list[list[TokenUnit]] = []
    used = 0
    for unit in ordered:
        if batches and used + costs[unit.index] <= budget:
            batches[-1].append(unit)
            used += costs[unit.index]
        else:
            batches.append([unit])
            used = costs[unit.index]
    return batches
