"""The value head: one linear output on a model's last hidden state."""

from __future__ import annotations

import torch
from torch import nn


class ValueHead(nn.Module):
    """Zero-initialised, always in float32: the value of every state is exactly 0 until the first step is taken."""

    def __init__(self, hidden_size: int, device: torch.device) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(hidden_size, dtype=torch.float32, device=device))
        self.bias = nn.Parameter(torch.zeros(1, dtype=torch.float32, device=device))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Values of `hidden` [n, hidden] as float32 [n]."""
        return torch.addmv(self.bias, hidden.float(), self.weight)
