"""A running batch: sequences enter, receive one token per step, and leave when they have ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from mrlm_engine.compute.transfer import HostCopy, packed, unpacked
from mrlm_engine.decoding.protocol import Decoder, PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.sampling.row_table import RowTable
from mrlm_engine.sampling.sampling_plan import SamplingPlan
from mrlm_engine.sampling.sequence import SampledSequence, StopReason
from mrlm_engine.sampling.uniform_block import UniformBlock

NOT_FINITE = (
    "ENGINE_FAILED",
    "The model's logits are not finite, so no token can be drawn from them; its weights have most likely diverged.",
)


class Ended(NamedTuple):
    """A sequence that has left the batch, with the reason; `error` is (code, message)."""

    sequence: SampledSequence
    reason: StopReason
    error: tuple[str, str] = ("", "")


class Batch:
    """Rows of a decoder with their sampled tokens.

    A row leaves in the step that ends it, and the last rows move into the free positions. So the composition of a batch
    depends only on the submitted sequences, the weights and the keys.
    """

    def __init__(self, decoder: Decoder, device: torch.device, max_positions: int) -> None:
        self._decoder = decoder
        self._device = device
        self._max_positions = max_positions
        self._rows = RowTable()
        self._uniform = UniformBlock(self._rows, device)
        self._plan: SamplingPlan | None = None
        # Tokens drawn last, which the decoder has not read yet, [rows]; None when `_features` is up to date.
        self._next: torch.Tensor | None = None
        # Features of every row's next token, [rows, width].
        self._features: torch.Tensor | None = None

    @property
    def sequences(self) -> Sequence[SampledSequence]:
        """Sequences in the batch, by row."""
        return self._rows.sequences

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence, prompt included; 0 for an empty batch."""
        return int(self._rows.lengths.max(initial=0))

    @property
    def new_tokens(self) -> int:
        """Tokens of all rows that their sequences do not have yet."""
        return int(self._rows.new.sum())

    def enter(self, sequences: Sequence[SampledSequence]) -> None:
        """Adds new or interrupted sequences in this order, except that equal contexts are grouped."""
        self._catch_up()
        groups: dict[bytes, list[SampledSequence]] = {}
        for sequence in sequences:
            groups.setdefault(sequence.context.tobytes(), []).append(sequence)
        prompts = [PromptGroup(torch.from_numpy(same[0].context), len(same)) for same in groups.values()]
        features = self._decoder.admit(prompts)
        self._features = features if self._features is None else torch.cat((self._features, features))
        self._rows.add([sequence for same in groups.values() for sequence in same], self._max_positions)
        self._uniform.enter()
        self._plan = None

    def advance(self, version: int) -> list[Ended]:
        """Draws one token for every row with weights of `version`. Removes and returns the rows that ended."""
        self._catch_up()
        tokens, logprobs = self._draw()
        self._next = tokens
        self._rows.append(*unpacked(HostCopy(packed(tokens, logprobs)).numpy()))
        for sequence, message in self._rows.streamed(version):
            if not sequence.cancelled:
                sequence.deliver(message)
        bad, stopped, full = self._rows.ended()
        leaving = bad | stopped | full
        if not leaving.any():
            return []
        if bad.any():
            self._decoder.scrub(np.flatnonzero(bad))
            self._rows.drop_last(bad)
        return [
            Ended(sequence, StopReason.ERROR, NOT_FINITE)
            if bad[row]
            else Ended(sequence, StopReason.STOP if stopped[row] else StopReason.LENGTH)
            for row, sequence in self.remove(leaving, version)
        ]

    def remove(self, leaving: npt.NDArray[np.bool_], version: int) -> list[tuple[int, SampledSequence]]:
        """Removes the rows `leaving`, bool [rows]. Returns their row numbers and the sequences with their tokens."""
        sequences = [(int(row), self._rows.flush(int(row), version)) for row in np.flatnonzero(leaving)]
        moves = RowMoves.closing(leaving, self._device)
        self._decoder.keep(moves)
        self._rows.keep(moves)
        self._uniform.keep(moves)
        self._next, self._features = _moved(self._next, moves), _moved(self._features, moves)
        self._plan = None
        return sequences

    def flush(self, sequence: SampledSequence, version: int) -> None:
        """Stores the sampled tokens of a running row in its sequence."""
        self._rows.flush(self._rows.sequences.index(sequence), version)

    def _catch_up(self) -> None:
        """Feeds the tokens drawn last to the decoder."""
        if self._next is not None:
            self._features = self._decoder.step(self._next) if self.sequences else None
            self._next = None

    def _draw(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Draws tokens int64 [rows] with log-probabilities float32 [rows] from the features, in blocks of rows."""
        assert self._features is not None
        if self._plan is None:
            self._plan = SamplingPlan([s.settings for s in self.sequences], self._device)
        uniform, counts = self._uniform.next(), self._rows.counts
        size = self._plan.rows_per_piece(self._decoder.vocab)
        pieces = []
        for first in range(0, len(self.sequences), size):
            rows = slice(first, first + size)
            logits = self._decoder.logits(self._features[rows])
            pieces.append(self._plan.draw(logits, first, uniform[rows], counts[rows]))
        if len(pieces) == 1:
            return pieces[0]
        return torch.cat([tokens for tokens, _ in pieces]), torch.cat([logprobs for _, logprobs in pieces])


def _moved(tensor: torch.Tensor | None, moves: RowMoves) -> torch.Tensor | None:
    return moves.apply(tensor) if tensor is not None and moves.rows else None
