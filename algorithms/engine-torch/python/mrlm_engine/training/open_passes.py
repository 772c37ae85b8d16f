"""Open passes of accumulation, by model."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from mrlm_engine.errors import EngineError
from mrlm_engine.ranks.protocol import Ranks
from mrlm_engine.training import rank_work
from mrlm_engine.training.passes import Pass


class OpenPasses:
    """At most one pass for each model. The next call ends a pass that was interrupted and not repeated."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._open: dict[str, Pass] = {}
        self._lock = threading.RLock()

    def get(self, model_id: str) -> Pass | None:
        """Returns the pass that is accumulating, if one is."""
        return self._open.get(model_id)

    def begin(self, model_id: str, started: Pass) -> None:
        """Opens a pass."""
        with self.settled(model_id, f"ForwardBackward {started.call}"):
            self._ranks.everywhere(rank_work.begin_pass, model_id)
            self._open[model_id] = started

    def commit(self, model_id: str) -> None:
        """Adds the gradients of the open pass to those of earlier passes."""
        with self._lock:
            seconds = self._ranks.everywhere(rank_work.commit_pass, model_id)
            committed = self._open.pop(model_id)
            committed.forward_seconds += max(forward for forward, _ in seconds)
            committed.backward_seconds += max(backward for _, backward in seconds)

    @contextlib.contextmanager
    def settled(self, model_id: str, successor: str) -> Iterator[None]:
        """Inside, no pass is open; refuses while one runs. `successor` is the call that comes next."""
        with self._lock:
            interrupted = self._open.get(model_id)
            if interrupted is not None:
                if interrupted.running:
                    raise EngineError(
                        "CALL_OUT_OF_ORDER",
                        f"{successor} came while ForwardBackward {interrupted.call} on '{model_id}' runs.",
                        "Wait for `done` before the next call on the same model.",
                    )
                interrupted.given_up = True
                del self._open[model_id]
                self._ranks.everywhere(rank_work.give_up_pass, model_id)
            yield

    def give_up(self, model_id: str, successor: str) -> None:
        """Ends an interrupted pass that cannot be repeated."""
        with self.settled(model_id, successor):
            pass

    def forget(self, model_id: str) -> None:
        """Drops the pass of a model that was released or replaced."""
        with self._lock:
            interrupted = self._open.pop(model_id, None)
            if interrupted is not None:
                interrupted.given_up = True
