"""Tokens with which different prompts begin: a system message, definitions of tools, examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from mrlm_engine.decoding.protocol import PromptGroup

# Fewer common tokens than this are computed with each prompt: a pass of their own would cost as much.
LEAST_PREFIX = 16


@dataclass(frozen=True)
class SharedPrefix:
    """A computed beginning of prompts."""

    # [length] int64, on CPU.
    tokens: torch.Tensor
    # Keys and values of each layer, [2, key_heads, 1, length, head_size].
    data: list[torch.Tensor]
    # Whether the weights have changed since: rows that run keep it, new ones do not read it.
    stale: bool = False

    @property
    def length(self) -> int:
        return self.tokens.numel()

    def begins(self, groups: Sequence[PromptGroup]) -> bool:
        """Whether each prompt has these tokens, and more, at its beginning."""
        return not self.stale and all(
            group.tokens.numel() > self.length and torch.equal(group.tokens[: self.length], self.tokens)
            for group in groups
        )

    def mask(self, width: int, dtype: torch.dtype) -> torch.Tensor:
        """Returns the additive mask [width, length + width] of `width` tokens that follow."""
        device = self.data[0].device
        hidden = torch.ones(width, self.length + width, dtype=torch.bool, device=device).triu_(self.length + 1)
        return torch.zeros_like(hidden, dtype=dtype).masked_fill_(hidden, -torch.inf)


def common_length(prompts: Sequence[torch.Tensor]) -> int:
    """Returns how many tokens all `prompts`, [length] each, have in common at the beginning, less than any of them."""
    common = min(prompt.numel() for prompt in prompts) - 1
    first = prompts[0].numpy()
    for other in prompts[1:]:
        differences = np.flatnonzero(first[:common] != other.numpy()[:common])
        if len(differences):
            common = int(differences[0])
    return common
