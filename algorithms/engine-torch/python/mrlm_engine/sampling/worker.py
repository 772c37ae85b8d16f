"""The sampling thread."""

from __future__ import annotations

import contextlib
import enum
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator

import torch

from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.compute.out_of_memory import first_line, is_out_of_memory
from mrlm_engine.sampling.scheduler import Scheduler
from mrlm_engine.sampling.sequence import SampledSequence, StopReason

_log = logging.getLogger(__name__)


class InFlight(enum.Enum):
    """Rule for sequences that run while weights change."""

    # Their state is computed again, so that each token is drawn from exactly the model of its version.
    RECOMPUTE = "recompute"
    # Their state stays: later tokens are drawn from new weights over a state of old ones.
    KEEP = "keep"
    # The weights change when they have ended; new sequences wait.
    WAIT = "wait"


class Worker:
    """Runs sequences: one wave after the other (`waves`), or all together as they arrive.

    Weights change between two waves, or between two steps. A change has priority over the next wave or step.
    """

    def __init__(self, runner: Scheduler, *, waves: bool, version: int) -> None:
        self._runner = runner
        self._waves = waves
        self.version = version
        # Guards the inbox. Not held during sampling and callbacks.
        self._changed = threading.Condition()
        self._arrived: deque[list[SampledSequence]] = deque()
        self._cancelled: list[SampledSequence] = []
        self._weight_changes = 0
        # Changes that wait for the end of running sequences.
        self._draining = 0
        self._closed = False
        # Held during the computation of a step.
        self._computing = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, wave: list[SampledSequence]) -> None:
        """Starts sequences: as one wave after the earlier ones, or at once."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
                self._thread.start()
            self._arrived.append(wave)
            self._changed.notify_all()

    def cancel(self, sequences: Iterable[SampledSequence]) -> None:
        """Cancels sequences at the next step. Reports each with its tokens so far."""
        with self._changed:
            self._cancelled.extend(sequences)
            self._changed.notify_all()

    @property
    def running_tokens(self) -> int:
        """Tokens of waiting and running sequences, with their prompts."""
        return self._runner.tokens

    @contextlib.contextmanager
    def weights_change(self, rule: InFlight = InFlight.RECOMPUTE) -> Iterator[None]:
        """Stops computation inside the block. `rule` applies to sequences that run together as they arrived."""
        with self._changed:
            if rule is InFlight.WAIT and not self._waves:
                self._draining += 1
                self._changed.wait_for(lambda: self._closed or not self._runner.busy)
                self._draining -= 1
            self._weight_changes += 1
        try:
            with self._computing:
                # A wave has ended here. Rows that wait for a later step keep no state.
                if rule is InFlight.KEEP and not self._waves:
                    self._runner.settle(self.version)
                else:
                    self._runner.interrupt(self.version)
                yield
        finally:
            with self._changed:
                self._weight_changes -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Ends the thread after the current step. Reports its sequences as cancelled."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._fail([*self._runner.abort(), *(s for wave in self._arrived for s in wave)], StopReason.CANCELLED)

    def _run(self) -> None:
        while self._wait_for_work():
            with self._computing, COMPUTE_CLOCK.running(), torch.inference_mode():
                try:
                    # A wave runs without a change of weights.
                    while self._take_in():
                        self._runner.advance(self.version)
                        if not (self._waves and self._runner.busy):
                            break
                except Exception as error:
                    _log.exception("sampling failed")
                    self._fail(self._runner.abort(), StopReason.ERROR, error)

    def _wait_for_work(self) -> bool:
        with self._changed:
            if self._draining and not self._runner.busy:
                self._changed.notify_all()
            while not self._closed:
                arrived = self._arrived and not self._draining
                if not self._weight_changes and (arrived or self._cancelled or self._runner.busy):
                    return True
                self._changed.wait()
            return False

    def _take_in(self) -> bool:
        """Moves new sequences to the runner. Returns whether there is anything to compute."""
        with self._changed:
            if self._closed:
                return False
            while self._arrived and not self._draining and not (self._waves and self._runner.busy):
                self._runner.submit(self._arrived.popleft())
            cancelled, self._cancelled = self._cancelled, []
            ahead = [s for s in cancelled for wave in self._arrived if s in wave]
            # A wave that has not started is cancelled when it starts.
            self._cancelled = ahead
        for sequence in cancelled:
            if sequence not in ahead:
                self._runner.cancel(sequence, self.version, leave=not self._waves)
        return self._runner.busy

    def _fail(self, sequences: list[SampledSequence], reason: StopReason, error: Exception | None = None) -> None:
        for sequence in sequences:
            sequence.deliver(sequence.finish(reason, ("", "") if error is None else _describe(error)))


def _describe(error: Exception) -> tuple[str, str]:
    if is_out_of_memory(error):
        advice = "Lower sampling.concurrency or sampling.max_sequence_tokens."
        return "OUT_OF_MEMORY", f"Memory ran out while sequences were sampled ({first_line(error)}). {advice}"
    return "ENGINE_FAILED", f"Sampling failed: {error}."
