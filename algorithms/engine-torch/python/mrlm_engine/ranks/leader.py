"""Rank 0: sends work to all ranks, runs its own part, and receives the outcomes of the others."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from mrlm_engine.ranks.failure import end_process, wait_for_the_end
from mrlm_engine.ranks.group import Channel, RankLost
from mrlm_engine.ranks.outcome import attempt, values


class LeadingRank:
    """`Ranks` over a process group. Runs the calls of several client threads one after the other."""

    def __init__(self, state: Any, channel: Channel, size: int, groups: int) -> None:
        """The ranks of a group have adjacent numbers."""
        self.size = size
        self.groups = groups
        self._state = state
        self._channel = channel
        self._lock = threading.Lock()

    def everywhere(self, work: Any, *arguments: Any) -> list[Any]:
        """Runs the same work on every rank."""
        return self._run(work, [arguments] * self.size)

    def scatter(self, work: Any, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Runs the work on every rank, with arguments for each group."""
        per_group = self.size // self.groups
        return self._run(work, [each for each in arguments for _ in range(per_group)])[::per_group]

    def _run(self, work: Any, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        others = range(1, self.size)
        with self._lock:
            try:
                for rank in others:
                    self._channel.send((work, arguments[rank]), rank)
                outcomes = [attempt(work, self._state, arguments[0])]
                outcomes += [self._channel.receive(rank) for rank in others]
            except RankLost as lost:
                wait_for_the_end(lost)
            except BaseException as cause:
                # The others may wait for this rank in a collective.
                end_process(cause)
        return values(outcomes)

    def close(self) -> None:
        """Ends the other ranks."""
        with self._lock:
            for rank in range(1, self.size):
                try:
                    self._channel.send(None, rank)
                except RankLost:
                    continue
