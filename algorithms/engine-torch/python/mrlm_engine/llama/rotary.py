"""Rotary position embedding (Su et al., arXiv 2104.09864) as multiplication by complex numbers."""

from __future__ import annotations

from typing import Any

import torch

# Positions of the smallest table.
MIN_POSITIONS = 256


class RotaryTable:
    """Factors cos + i sin of each position and pair of dimensions, complex64 [positions, head_size / 2].

    They are computed on demand by the model's own rotary module, so they contain every scaling that it implements.
    """

    def __init__(self, rotary_module: Any, device: torch.device) -> None:
        self._module = rotary_module
        self._device = device
        self._table = torch.empty(0, 0, dtype=torch.complex64, device=device)

    def upto(self, positions: int) -> torch.Tensor:
        """Returns the table of at least `positions` positions. Several threads may call this at the same time."""
        # Another thread can replace the table by a shorter one after this line.
        table = self._table
        if table.shape[0] < positions:
            table = self._table = self._compute(max(positions, 2 * table.shape[0], MIN_POSITIONS))
        return table

    @torch.no_grad()
    def _compute(self, positions: int) -> torch.Tensor:
        # The module reads device and number format from its first argument.
        like = torch.empty(0, dtype=torch.float32, device=self._device)
        cos, sin = self._module(like, torch.arange(positions, device=self._device)[None])
        half = cos.shape[-1] // 2
        return torch.complex(cos[0, :, :half].contiguous(), sin[0, :, :half].contiguous())


def rotate_(heads: torch.Tensor, factors: torch.Tensor) -> None:
    """Rotates `heads` [T, n, head_size] (pairs interleaved) in place by `factors` [T, 1, head_size / 2]."""
    pairs = heads.view(heads.shape[0], heads.shape[1], -1, 2)
    if heads.dtype == torch.float32:
        torch.view_as_complex(pairs).mul_(factors)
    else:
        pairs.copy_(torch.view_as_real(torch.view_as_complex(pairs.float()) * factors))
