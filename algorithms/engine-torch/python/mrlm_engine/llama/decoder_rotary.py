"""Rotary position embeddings (Su et al., arXiv 2104.09864) as complex numbers of modulus 1."""

from __future__ import annotations

from typing import Any

import torch


class RotaryTable:
    """The factor of each position and pair, complex64 [positions, head_dim / 2], made as far as it is needed.

    It comes from the model's own rotary module, so every scaling of the frequencies that the module knows is in it.
    """

    def __init__(self, rotary_module: Any, device: torch.device) -> None:
        self._module = rotary_module
        self._device = device
        self._table = torch.empty(0, 0, dtype=torch.complex64, device=device)

    def upto(self, positions: int) -> torch.Tensor:
        """The table for at least `positions` positions."""
        if positions > self._table.shape[0]:
            positions = max(256, positions, 2 * self._table.shape[0])
            ids = torch.arange(positions, device=self._device)[None]
            # The argument gives device and dtype only.
            cos, sin = self._module(torch.empty(0, device=self._device, dtype=torch.float32), ids)
            half = cos.shape[-1] // 2
            self._table = torch.complex(cos[0, :, :half].float(), sin[0, :, :half].float()).contiguous()
        return self._table
