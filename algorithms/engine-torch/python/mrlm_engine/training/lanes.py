"""Lanes: parts of a micro-batch that are computed side by side on a CPU (docs/decisions/0008-lanes.md).

One operation of a model of a few million parameters is too small to divide among threads. So a micro-batch is divided
instead: it has a part for each lane, and each lane has a thread and gradients of its own. The results depend on the
number of lanes, which the configuration sets, and not on the number of cores or the order in which threads run.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from mrlm_engine.backbone.protocol import Backbone
from mrlm_engine.batching.plan import RankShard, plan_micro_batches
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import GradientSums, PassGradients
from mrlm_engine.gradients.store import GradientStore

Result = TypeVar("Result")


class LaneThreads:
    """Threads of `count` lanes; the caller's own is the first of them."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1, thread_name_prefix="lane") if count > 1 else None

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """Returns the results of `tasks` (one at least, no more than lanes), in order.

        All have ended when this returns, or raises the error of one of them.
        """
        if self._pool is None:
            return [task() for task in tasks]
        others = [self._pool.submit(task) for task in tasks[1:]]
        try:
            first = tasks[0]()
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown()


class ModelLanes:
    """The lanes of one model: its work divided among them, and the gradients of each."""

    def __init__(self, threads: LaneThreads, backbone: Backbone, store: GradientStore) -> None:
        """Uses all of `threads` if several passes of `backbone` can run at the same time, else one lane."""
        self._threads = threads if backbone.has_lanes else LaneThreads()
        self._backbone = backbone
        self._store = store
        self.count = self._threads.count
        # The first lane adds to the model's store itself.
        self._sums = [GradientSums() for _ in range(1, self.count)]
        self.gradients = [PassGradients(store), *map(PassGradients, self._sums)]

    def plan(
        self, units: Sequence[TokenUnit], cost: Callable[[TokenUnit], int], budget: int, ranks: int
    ) -> list[list[RankShard]]:
        """Returns the micro-batches for `ranks` ranks in which each lane has at most `budget` tokens, units above it
        apart.
        """
        planned = plan_micro_batches(units, cost, budget, ranks * self.count)
        return [[list(itertools.chain(*shards[rank::ranks])) for rank in range(ranks)] for shards in planned]

    def divide(self, shard: RankShard, cost: Callable[[TokenUnit], int]) -> list[RankShard]:
        """Returns the parts of `shard` for the lanes, at least one; they depend on the units alone."""
        if self.count == 1 or len(shard) < 2:
            return [shard]
        return [part for part in plan_micro_batches(shard, cost, sys.maxsize, self.count)[0] if part]

    def run(self, tasks: Sequence[Callable[[], Result]]) -> list[Result]:
        """Returns the results of `tasks`, at most one for each lane, in order."""
        return self._threads.run(tasks)

    def collect(self) -> None:
        """Adds the gradients of all lanes, in the order of the lanes, to the model's store, and clears them."""
        self._backbone.finish_gradients(self.gradients)
        for sums in self._sums:
            sums.move_to(self._store)

    def clear(self) -> None:
        """Drops the gradients of all lanes that are not in the store."""
        for gradients in self.gradients:
            gradients.layers = []
        for sums in self._sums:
            sums.clear()
