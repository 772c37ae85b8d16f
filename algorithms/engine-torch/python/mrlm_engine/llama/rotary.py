"""Rotary position embedding (Su et al., arXiv 2104.09864) as multiplication by unit complex numbers."""

from __future__ import annotations

from typing import Any

import torch


class RotaryTable:
    """cos + i sin for each position, as the module's own rotary embedding computes them; grows on demand."""

    def __init__(self, module: Any) -> None:
        self._rotary = module.model.rotary_emb
        self._table: torch.Tensor | None = None

    def at(self, positions: torch.Tensor, limit: int) -> torch.Tensor:
        """Factors [T, 1, head_size / 2], complex64, for `positions` [T], all below `limit`."""
        # Another lane may replace the table by one that is shorter than what this one has seen.
        table = self._table
        if table is None or table.shape[0] < limit:
            table = self._compute(max(limit, 2 * (0 if table is None else table.shape[0]), 256))
            self._table = table
        return table.index_select(0, positions).unsqueeze(1)

    def _compute(self, length: int) -> torch.Tensor:
        device = self._rotary.inv_freq.device
        with torch.no_grad():
            probe = torch.zeros(1, dtype=torch.float32, device=device)
            cos, sin = self._rotary(probe, torch.arange(length, device=device)[None])
        half = cos.shape[-1] // 2
        return torch.complex(cos[0, :, :half].contiguous(), sin[0, :, :half].contiguous())


def rotate_(heads: torch.Tensor, factors: torch.Tensor) -> None:
    """Rotates `heads` [T, n, head_size] (pairs interleaved) in place by `factors` [T, 1, head_size / 2]."""
    pairs = heads.view(heads.shape[0], heads.shape[1], -1, 2)
    torch.view_as_complex(pairs).mul_(factors)
