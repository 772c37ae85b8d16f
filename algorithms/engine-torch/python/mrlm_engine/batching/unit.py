"""Units of sequences as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Tokens = NDArray[np.int32]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class TokenSequence:
    """One sequence: `tokens` [n] and `positions`, the masked positions t (1 <= t < n), ascending, each as often as it
    has targets. `targets` are the tokens whose log-probabilities are the outputs, by default those at the positions.
    """

    tokens: Tokens
    positions: NDArray[np.int64]
    targets: Tokens | None = None

    def needed(self, final_value: bool) -> int:
        """Returns the number of leading tokens that the model must read: up to the one before the last masked
        position, or all.
        """
        if final_value:
            return len(self.tokens)
        return int(self.positions[-1]) if len(self.positions) else 0


@dataclass(frozen=True)
class UnitGradients:
    """Gradients of a unit's outputs, each [outputs of the unit] or None for zeros."""

    logprob: Floats | None = None
    entropy: Floats | None = None
    value: Floats | None = None


@dataclass(frozen=True)
class TokenUnit:
    """Sequences that stay in one micro-batch; `index` counts units over the call."""

    index: int
    sequences: tuple[TokenSequence, ...]
    # Gradients known beforehand (LOSS_KIND_LINEAR), else None.
    gradients: UnitGradients | None = None

    @property
    def outputs(self) -> int:
        """Number of outputs over all sequences: masked positions, each as often as it has targets."""
        return sum(len(sequence.positions) for sequence in self.sequences)

    @property
    def tokens(self) -> int:
        """Number of tokens over all sequences."""
        return sum(len(sequence.tokens) for sequence in self.sequences)
