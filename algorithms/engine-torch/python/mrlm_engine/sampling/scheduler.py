"""Scheduling of waiting sequences into the running batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from mrlm_engine.decoding.protocol import Decoder
from mrlm_engine.sampling.batch import Batch
from mrlm_engine.sampling.sequence import SampledSequence, StopReason


@dataclass(frozen=True)
class SchedulerLimits:
    """Largest size of a batch."""

    rows: int
    # Bytes of keys and values (or other state) of all rows.
    state_bytes: int


class Scheduler:
    """A queue and a batch. Not thread-safe: one thread uses it.

    Its schedule depends on the order of submission, the lengths of sequences and `limits`, never on time, so that equal
    submissions to an empty runner give equal bits.
    """

    def __init__(self, decoder: Decoder, device: torch.device, max_positions: int, limits: SchedulerLimits) -> None:
        self._decoder = decoder
        self._batch = Batch(decoder, device, max_positions)
        self._limits = limits
        self._waiting: list[SampledSequence] = []
        # Order of submission. Sequences that were taken out of the batch wait in this order.
        self._order: dict[SampledSequence, int] = {}
        self._submitted = 0

    @property
    def busy(self) -> bool:
        """Whether a sequence waits or runs."""
        return bool(self._order)

    @property
    def sequences(self) -> list[SampledSequence]:
        """Waiting and running sequences, in order of submission."""
        return list(self._order)

    def submit(self, sequences: Iterable[SampledSequence]) -> None:
        """Adds sequences to the end of the queue."""
        for sequence in sequences:
            self._order[sequence] = self._submitted
            self._submitted += 1
            self._waiting.append(sequence)

    def advance(self, version: int) -> None:
        """Admits sequences that fit, draws one token for each row with weights of `version`, and reports ended rows."""
        self._make_room(version)
        self._let_in()
        for sequence, reason, error in self._batch.advance(version):
            del self._order[sequence]
            if not sequence.cancelled:
                sequence.deliver(sequence.finish(reason, error))

    def cancel(self, sequence: SampledSequence, version: int, *, leave: bool) -> None:
        """Reports a sequence as cancelled with its tokens so far. Without `leave` its row is computed until its end.

        The row stays if the width of a batch must not depend on the time of a cancellation.
        """
        if sequence not in self._order or sequence.cancelled:
            return
        if sequence in self._batch.sequences:
            self._batch.flush(sequence, version)
        sequence.cancelled = True
        sequence.deliver(sequence.finish(StopReason.CANCELLED))
        if leave or all(s.cancelled for s in self._order):
            self._drop([s for s in self._order if s.cancelled], version)

    def interrupt(self, version: int) -> None:
        """Moves all running sequences to the front of the queue, so that the weights can change."""
        running = list(self._batch.sequences)
        if running:
            self._batch.remove(np.ones(len(running), np.bool_), version)
            self._wait_again(running)

    @property
    def tokens(self) -> int:
        """Tokens of waiting and running sequences, with their prompts. May be read by any thread."""
        return sum(len(s.prompt) + len(s.tokens) for s in self.sequences) + self._batch.new_tokens

    def settle(self, version: int) -> None:
        """Assigns the tokens of running sequences so far to a version. Their state stays."""
        for sequence in self._batch.sequences:
            self._batch.flush(sequence, version)

    def abort(self) -> list[SampledSequence]:
        """Drops all sequences without a report. Returns those that were not cancelled."""
        dropped = [s for s in self._order if not s.cancelled]
        self._drop(list(self._order), version=0)
        return dropped

    def _let_in(self) -> None:
        free = self._limits.rows - len(self._batch.sequences)
        # Each admission costs a pass over the weights, so few sequences wait for more, unless there is room for all.
        if not self._waiting or free < min(len(self._waiting), max(1, self._limits.rows // 16)):
            return
        longest, entering = self._batch.longest, 0
        for sequence in self._waiting[:free]:
            longest = max(longest, len(sequence.prompt) + len(sequence.tokens))
            rows = len(self._batch.sequences) + entering + 1
            # Room to grow, so that a new row is not taken out again at once. A single row runs with any memory.
            if rows > 1 and self._decoder.bytes_for(rows, longest + longest // 4 + 1) > self._limits.state_bytes:
                break
            entering += 1
        if entering:
            entrants, self._waiting = self._waiting[:entering], self._waiting[entering:]
            self._batch.enter(entrants)

    def _make_room(self, version: int) -> None:
        """Takes the sequences submitted last out of the batch when the rows exceed the limit."""
        running = self._batch.sequences
        rows = len(running)
        while rows > 1 and self._decoder.bytes_for(rows, self._batch.longest + 1) > self._limits.state_bytes:
            rows = rows * 3 // 4
        if rows < len(running):
            last = sorted(running, key=self._order.__getitem__)[rows:]
            self._remove(last, version)
            self._wait_again(last)

    def _wait_again(self, sequences: list[SampledSequence]) -> None:
        self._waiting = sorted(sequences, key=self._order.__getitem__) + self._waiting

    def _drop(self, sequences: list[SampledSequence], version: int) -> None:
        self._remove(sequences, version)
        for sequence in sequences:
            del self._order[sequence]
        self._waiting = [s for s in self._waiting if s in self._order]

    def _remove(self, sequences: list[SampledSequence], version: int) -> None:
        gone = set(sequences)
        leaving = np.array([s in gone for s in self._batch.sequences], np.bool_)
        if leaving.any():
            self._batch.remove(leaving, version)
