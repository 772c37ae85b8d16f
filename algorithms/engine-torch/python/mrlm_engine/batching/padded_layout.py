"""A micro-batch as one rectangle, padded on the right. Every transformers architecture computes it correctly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from mrlm_engine.batching.layout import OutputRows, output_rows
from mrlm_engine.batching.unit import TokenUnit


@dataclass(frozen=True)
class PaddedLayout:
    """`tokens` [S, L]; `mask` [S, L] is 1 for tokens and 0 for padding, None without padding; rows count over S * L."""

    tokens: torch.Tensor
    mask: torch.Tensor | None
    outputs: OutputRows

    @property
    def computed_tokens(self) -> int:
        """Number of rows, S * L."""
        return self.tokens.numel()


def padded_layout(units: Sequence[TokenUnit], final_value: bool, device: torch.device) -> PaddedLayout:
    """Lays `units` out, one row per sequence. Leaves out tokens that no output reads."""
    sequences = [sequence for unit in units for sequence in unit.sequences]
    lengths = [sequence.needed(final_value) for sequence in sequences]
    width = max(lengths, default=0)
    used = [(s, n) for s, n in enumerate(lengths) if n]
    tokens = np.zeros((len(used), width), dtype=np.int64)
    mask = np.zeros((len(used), width), dtype=np.int64)
    row_of = [np.zeros(0, np.int64) for _ in sequences]
    for row, (s, n) in enumerate(used):
        tokens[row, :n] = sequences[s].tokens[:n]
        mask[row, :n] = 1
        row_of[s] = row * width + np.arange(n, dtype=np.int64)
    return PaddedLayout(
        tokens=torch.from_numpy(tokens).to(device),
        mask=None if mask.all() else torch.from_numpy(mask).to(device),
        outputs=output_rows(units, row_of, final_value, device),
    )
