"""Protocol of a decoder: it computes features of the next token for many sequences at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from mrlm_engine.decoding.row_moves import RowMoves


@dataclass(frozen=True)
class PromptGroup:
    """Equal prompts that enter together: they are computed once and have `rows` rows."""

    # [length] int64, on CPU.
    tokens: torch.Tensor
    rows: int


class Decoder(Protocol):
    """Running sequences as rows 0 .. `rows` - 1, each with its keys and values, or the other state of its model.

    No method waits for the device: data about rows is on the host.

    `logits` computes logits from features. It is a method of its own so that a large vocabulary can be computed in
    pieces of rows.
    """

    # Size of the vocabulary.
    vocab: int

    @property
    def rows(self) -> int:
        """Number of running sequences."""

    def admit(self, groups: Sequence[PromptGroup]) -> torch.Tensor:
        """Appends the rows of `groups` in order; features [new rows, width] of the token after each prompt."""

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Appends `tokens` [rows], one to each row; features [rows, width] of the tokens after them."""

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the logits [n, vocabulary] of features [n, width]."""

    def keep(self, moves: RowMoves) -> None:
        """Moves rows, and drops the last ones."""

    def scrub(self, rows: npt.NDArray[np.int64]) -> None:
        """Overwrites the state of `rows` [n], so that numbers which are not finite reach no later sequence."""

    def clear(self) -> None:
        """Drops all rows."""

    def bytes_for(self, rows: int, length: int) -> int:
        """Returns the bytes of state for `rows` rows of `length` tokens."""

    def load(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Copies new weights by state-dict name. Rows that run keep the state that old weights computed."""

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Returns each weight that the decoder computes with, by state-dict name, in its original layout."""
