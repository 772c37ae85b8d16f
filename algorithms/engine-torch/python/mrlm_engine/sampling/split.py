"""Division of sequences among the samplers of several ranks."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens, SampleFinish
from mrlm_engine.sampling.taker import SequenceTaker


def split_wave(wave: Sequence[SampledSequence], loads: Sequence[int]) -> list[list[SampledSequence]]:
    """Divides a wave among the ranks; each part keeps the order of the wave.

    Sequences with equal prompts stay together, because they share its computation. Groups are assigned by decreasing
    maximal length, each to the rank with the least load; `loads` are the tokens that each rank has before.
    """
    groups: dict[bytes, list[SampledSequence]] = {}
    for sequence in wave:
        groups.setdefault(sequence.prompt.tobytes(), []).append(sequence)
    costs = {prompt: sum(tokens_of(sequence) for sequence in same) for prompt, same in groups.items()}
    ordered = sorted(groups, key=lambda prompt: (-costs[prompt], prompt))
    load, rank_of = list(loads), dict[bytes, int]()
    for prompt in ordered:
        rank_of[prompt] = load.index(min(load))
        load[rank_of[prompt]] += costs[prompt]
    return [[s for s in wave if rank_of[s.prompt.tobytes()] == rank] for rank in range(len(load))]


def tokens_of(sequence: SampledSequence) -> int:
    """Returns the number of tokens of a sequence at its limit."""
    return len(sequence.prompt) + sequence.settings.max_tokens


class SplitTaker:
    """Starts each sequence on one of several ranks and records its rank.

    With `waves` the division depends only on the submitted sequences; otherwise also on the load of each rank.
    """

    def __init__(self, takers: Sequence[SequenceTaker], *, waves: bool) -> None:
        self._takers = takers
        self._waves = waves
        self._lock = threading.Lock()
        self._rank_of: dict[SampledSequence, int] = {}
        self._loads = [0] * len(takers)

    def submit(self, wave: list[SampledSequence]) -> None:
        """Starts the sequences of one wave."""
        with self._lock:
            parts = split_wave(wave, [0] * len(self._takers) if self._waves else self._loads)
            for rank, part in enumerate(parts):
                for sequence in part:
                    self._rank_of[sequence] = rank
                    self._loads[rank] += tokens_of(sequence)
                    self._watch(sequence)
        for taker, part in zip(self._takers, parts, strict=True):
            if part:
                taker.submit(part)

    def cancel(self, sequences: Iterable[SampledSequence]) -> None:
        """Cancels sequences on their ranks. Ignores those that have ended."""
        with self._lock:
            ranks = [(sequence, self._rank_of.get(sequence)) for sequence in sequences]
        for rank, taker in enumerate(self._takers):
            mine = [sequence for sequence, place in ranks if place == rank]
            if mine:
                taker.cancel(mine)

    def close(self) -> None:
        """Ends sampling on all ranks, on this one last."""
        for taker in reversed(self._takers):
            taker.close()

    def _watch(self, sequence: SampledSequence) -> None:
        """Removes a sequence after its finish."""
        deliver = sequence.deliver

        def delivered(result: SampledTokens | SampleFinish) -> None:
            if isinstance(result, SampleFinish):
                with self._lock:
                    rank = self._rank_of.pop(sequence, None)
                    if rank is not None:
                        self._loads[rank] -= tokens_of(sequence)
            deliver(result)

        sequence.deliver = delivered
