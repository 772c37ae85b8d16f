"""The largest token budget that fits into memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mrlm_engine.memory.estimate import estimate, total
from mrlm_engine.memory.plan import Line, ModelPlan, Setting


@dataclass(frozen=True)
class BudgetChoice:
    """Memory of a run with the chosen budget, and with other budgets."""

    lines: list[Line]
    # Largest budget that fits, at most the requested one; 0 if not even the longest sequence fits.
    tokens: int
    wanted_tokens: int
    wanted_bytes: int
    # Memory with the longest sequence only.
    least_tokens: int
    least_bytes: int
    # Length of the longest sequence that would fit.
    fitting_sequence: int


def choose_budget(models: Sequence[ModelPlan], setting: Setting, wanted: int, available: int) -> BudgetChoice:
    """Chooses the budget. `available` 0 means that the memory is not known; then everything fits.

    A sequence is never divided, so no budget makes a pass smaller than the longest sequence.
    """
    least = setting.pass_tokens
    needs = _needs(models, setting)

    def fits(tokens: int) -> bool:
        return not available or needs(max(tokens, least)) <= available

    tokens = wanted if fits(wanted) else largest(fits, least, wanted)
    return BudgetChoice(
        lines=estimate(models, setting, max(tokens, least)),
        tokens=tokens,
        wanted_tokens=wanted,
        wanted_bytes=needs(max(wanted, least)),
        least_tokens=least,
        least_bytes=needs(least),
        fitting_sequence=setting.sequence_tokens
        if tokens
        else largest(lambda n: _alone(models, setting, n) <= available, 1, setting.sequence_tokens),
    )


def largest(fits: Callable[[int], bool], least: int, most: int) -> int:
    """Finds the largest number from `least` to `most` that fits, by bisection; 0 if none fits."""
    if least > most or not fits(least):
        return 0
    while least < most:
        middle = (least + most + 1) // 2
        if fits(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _needs(models: Sequence[ModelPlan], setting: Setting) -> Callable[[int], int]:
    return lambda tokens: total(estimate(models, setting, tokens))


def _alone(models: Sequence[ModelPlan], setting: Setting, tokens: int) -> int:
    alone = dataclasses.replace(setting, sequence_tokens=tokens)
    return _needs(models, alone)(alone.pass_tokens)
