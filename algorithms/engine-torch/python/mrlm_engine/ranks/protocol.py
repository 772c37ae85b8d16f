"""Interface for running work on all ranks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
# Work of a rank: a function of a module, which can be sent by its name. Its first argument is the rank's EngineState.
Work = Callable[..., Result]


class Ranks(Protocol):
    """All ranks of an engine, for the rank that serves gRPC.

    All ranks run work in the same order, so that collectives inside it match. An EngineError of any rank is raised here
    after all ranks have answered. Any other exception on one of several ranks ends the engine, because the other ranks
    may wait in a collective.
    """

    size: int
    # Groups of ranks that compute the same units together; each rank by default.
    groups: int

    def everywhere(self, work: Callable[Concatenate[Any, Arguments], Result], *arguments: Any) -> list[Result]:
        """Runs `work(state, *arguments)` on every rank. Returns the results by rank."""

    def scatter(self, work: Work[Result], arguments: Sequence[tuple[Any, ...]]) -> list[Result]:
        """Runs `work(state, *arguments[group])` on every rank of each group. Returns the results of the first rank of
        each group.
        """

    def close(self) -> None:
        """Ends the other ranks."""


class SingleRank:
    """An engine of one process."""

    size = 1
    groups = 1

    def __init__(self, state: Any) -> None:
        self._state = state

    def everywhere(self, work: Work[Result], *arguments: Any) -> list[Result]:
        """Runs the work in this process."""
        return [work(self._state, *arguments)]

    def scatter(self, work: Work[Result], arguments: Sequence[tuple[Any, ...]]) -> list[Result]:
        """Runs the work in this process."""
        return [work(self._state, *arguments[0])]

    def close(self) -> None:
        """Does nothing: there are no other ranks."""
