"""How a call's work reaches the ranks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
# What each rank does: a function of a module, so that it can be sent by its name. It is given the rank's EngineState.
Work = Callable[..., Result]


class Ranks(Protocol):
    """All ranks, as the one that speaks gRPC sees them.

    Work is done on all ranks in the same order, so collectives inside it match. An EngineError that any rank raises is
    raised here when all have answered; anything else that goes wrong on one of several ranks ends the engine, since the
    others may wait in a collective.
    """

    size: int

    def everywhere(self, work: Callable[Concatenate[Any, Arguments], Result], *arguments: Any) -> list[Result]:
        """Does `work(state, *arguments)` on every rank; results by rank."""

    def scatter(self, work: Work[Result], arguments: Sequence[tuple[Any, ...]]) -> list[Result]:
        """Does `work(state, *arguments[rank])` on every rank; results by rank."""

    def close(self) -> None:
        """Lets the other ranks end."""


class SoleRank:
    """An engine of one process."""

    size = 1

    def __init__(self, state: Any) -> None:
        self._state = state

    def everywhere(self, work: Work[Result], *arguments: Any) -> list[Result]:
        """Does it here."""
        return [work(self._state, *arguments)]

    def scatter(self, work: Work[Result], arguments: Sequence[tuple[Any, ...]]) -> list[Result]:
        """Does it here."""
        return [work(self._state, *arguments[0])]

    def close(self) -> None:
        """Nothing to end."""
