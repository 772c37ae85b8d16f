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
        if self.stale or min(group.tokens.numel() for group in groups) <= self.length:
            return False
        return common_length([self.tokens, *(group.tokens for group in groups)], most=self.length) == self.length

    def mask(self, width: int, dtype: torch.dtype) -> torch.Tensor:
        """Returns the additive mask [width, length + width] of `width` tokens that follow."""
        device = self.data[0].device
        hidden = torch.ones(width, self.length + width, dtype=torch.bool, device=device).triu_(self.length + 1)
        return torch.zeros_like(hidden, dtype=dtype).masked_fill_(hidden, -torch.inf)


def common_length(prompts: Sequence[torch.Tensor], most: int | None = None) -> int:
    """Returns how many tokens all `prompts`, [length] each, have in common at the beginning, at most `most`.

    Without `most`, each prompt keeps a token of its own.
    """
    shortest = min(prompt.numel() for prompt in prompts)
    common = shortest - 1 if most is None else min(shortest, most)
    # By numpy, which shows that no device is waited for.
    first = prompts[0].numpy()
    for other in prompts[1:]:
        differences = np.flatnonzero(first[:common] != other.numpy()[:common])
        if len(differences):
            common = int(differences[0])
    return common
