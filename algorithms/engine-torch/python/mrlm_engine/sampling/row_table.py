"""State of the rows of a running batch as arrays, so that a step needs no Python code per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens

_TOKEN_BLOCK = 64


class RowTable:
    """Rows 0 .. `len(sequences)` - 1 of a batch, in the decoder's order.

    Tokens and log-probabilities since a row's last `flush` are columns 0 .. `new` - 1 of its buffers.
    """

    def __init__(self) -> None:
        self.sequences: list[SampledSequence] = []
        # Number of tokens since the last flush, and before it.
        self.new: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._before: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._prompts: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._tokens: npt.NDArray[np.int32] = np.empty((0, _TOKEN_BLOCK), np.int32)
        self._logprobs: npt.NDArray[np.float32] = np.empty((0, _TOKEN_BLOCK), np.float32)
        self.keys: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        self._limits: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._stops: npt.NDArray[np.int64] = np.empty((0, 1), np.int64)
        self._streams: npt.NDArray[np.bool_] = np.empty(0, np.bool_)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each row's completion so far, [rows]."""
        return self._before + self.new

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each row, prompt included, [rows]."""
        return self._prompts + self.counts

    def add(self, sequences: Sequence[SampledSequence], max_positions: int) -> None:
        """Appends rows. A row ends at its max_tokens or at `max_positions`, if the model has a limit."""
        self.sequences.extend(sequences)
        prompts = np.array([len(s.prompt) for s in sequences], np.int64)
        limits = np.array([s.settings.max_tokens for s in sequences], np.int64)
        if max_positions:
            limits = np.minimum(limits, max_positions - prompts)
        more = len(sequences)
        self._prompts = np.concatenate((self._prompts, prompts))
        self._before = np.concatenate((self._before, np.array([len(s.tokens) for s in sequences], np.int64)))
        self.new = np.concatenate((self.new, np.zeros(more, np.int64)))
        self.keys = np.concatenate((self.keys, np.array([s.key for s in sequences], np.uint64)))
        self._limits = np.concatenate((self._limits, limits))
        self._streams = np.concatenate((self._streams, np.array([s.stream_tokens for s in sequences], np.bool_)))
        self._stops = _stop_table([s.settings.stop_token_ids for s in self.sequences])
        self._tokens = np.pad(self._tokens, ((0, more), (0, 0)))
        self._logprobs = np.pad(self._logprobs, ((0, more), (0, 0)))

    def append(self, tokens: npt.NDArray[np.int32], logprobs: npt.NDArray[np.float32]) -> None:
        """Adds a token to every row."""
        if int(self.new.max()) == self._tokens.shape[1]:
            self._tokens = np.pad(self._tokens, ((0, 0), (0, _TOKEN_BLOCK)))
            self._logprobs = np.pad(self._logprobs, ((0, 0), (0, _TOKEN_BLOCK)))
        rows = np.arange(len(self.sequences))
        self._tokens[rows, self.new] = tokens
        self._logprobs[rows, self.new] = logprobs
        self.new += 1

    def ended(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """After `append`, bool [rows] each: rows without a finite log-probability, with a stop token, and full rows."""
        rows = np.arange(len(self.sequences))
        last = self._tokens[rows, self.new - 1]
        bad = ~np.isfinite(self._logprobs[rows, self.new - 1])
        stopped = (last[:, None] == self._stops).any(1) & ~bad
        return bad, stopped, (self.counts >= self._limits) & ~stopped & ~bad

    def streamed(self, version: int) -> Iterator[tuple[SampledSequence, SampledTokens]]:
        """After `append` with weights of `version`: sends the last token of each row with a requested stream."""
        for row in np.flatnonzero(self._streams):
            sequence, column = self.sequences[row], self.new[row] - 1
            if np.isfinite(self._logprobs[row, column]):
                last = slice(column, column + 1)
                # Copies, because a later step writes into the buffers.
                tokens, logprobs = self._tokens[row, last].copy(), self._logprobs[row, last].copy()
                yield sequence, SampledTokens(sequence.id, tokens, logprobs, version)

    def drop_last(self, rows: npt.NDArray[np.bool_]) -> None:
        """Removes the last token of `rows`, bool [rows]."""
        self.new[rows] -= 1

    def flush(self, row: int, version: int) -> SampledSequence:
        """Appends the row's new tokens, sampled with weights of `version`, to its sequence."""
        sequence, count = self.sequences[row], int(self.new[row])
        sequence.append(self._tokens[row, :count], self._logprobs[row, :count], version)
        self._before[row] += count
        self.new[row] = 0
        return sequence

    def keep(self, moves: RowMoves) -> None:
        """Moves rows and drops the last ones."""
        for to, origin in zip(moves.target, moves.source, strict=True):
            self.sequences[to] = self.sequences[origin]
        del self.sequences[moves.rows :]
        self.new, self._before, self._prompts, self.keys, self._limits, self._streams = (
            moves.apply_array(array)
            for array in (self.new, self._before, self._prompts, self.keys, self._limits, self._streams)
        )
        self._tokens = moves.apply_array(self._tokens)
        self._logprobs = moves.apply_array(self._logprobs)
        self._stops = moves.apply_array(self._stops)


def _stop_table(stops: Sequence[tuple[int, ...]]) -> npt.NDArray[np.int64]:
    """Returns the stop tokens of each row, [rows, most], padded with -1, which is no token."""
    table = np.full((len(stops), max([1, *(len(s) for s in stops)])), -1, np.int64)
    for row, tokens in enumerate(stops):
        table[row, : len(tokens)] = tokens
    return table
