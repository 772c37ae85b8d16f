"""What became of a rank's work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mrlm_engine.errors import EngineError


@dataclass(frozen=True)
class Outcome:
    """Either a value or an error that the client is told of."""

    value: Any = None
    error: EngineError | None = None


def attempt(work: Callable[..., Any], state: Any, arguments: Sequence[Any]) -> Outcome:
    """Does the work. Only an EngineError is an outcome; anything else is a fault of the engine, and goes on upwards."""
    try:
        return Outcome(work(state, *arguments))
    except EngineError as error:
        return Outcome(error=error)


def values(outcomes: Sequence[Outcome]) -> list[Any]:
    """The values of all ranks, or the first error."""
    for rank, outcome in enumerate(outcomes):
        if outcome.error is not None:
            raise outcome.error if rank == 0 else outcome.error.on_rank(rank)
    return [outcome.value for outcome in outcomes]
