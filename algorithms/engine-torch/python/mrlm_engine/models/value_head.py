"""The value head: one linear output on a model's last hidden state."""

from __future__ import annotations

import torch
from torch import nn


class ValueHead(nn.Module):
    """Zero-initialised and always in float32. The value of every state is exactly 0 until the first step."""

    def __init__(self, hidden_size: int, device: torch.device) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(hidden_size, dtype=torch.float32, device=device))
        self.bias = nn.Parameter(torch.zeros(1, dtype=torch.float32, device=device))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Returns the values of `hidden` [n, hidden] as float32 [n]."""
        return torch.addmv(self.bias, hidden.float(), self.weight)
