"""Outcome of a rank's work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mrlm_engine.errors import EngineError


@dataclass(frozen=True)
class Outcome:
    """A value, or an error for the client."""

    value: Any = None
    error: EngineError | None = None


def attempt(work: Callable[..., Any], state: Any, arguments: Sequence[Any]) -> Outcome:
    """Runs the work. An EngineError is an outcome. Other exceptions are faults of the engine and propagate."""
    try:
        return Outcome(work(state, *arguments))
    except EngineError as error:
        return Outcome(error=error)


def values(outcomes: Sequence[Outcome]) -> list[Any]:
    """Returns the values of all ranks, or raises the first error."""
    for rank, outcome in enumerate(outcomes):
        if outcome.error is not None:
            raise outcome.error if rank == 0 else outcome.error.on_rank(rank)
    return [outcome.value for outcome in outcomes]
