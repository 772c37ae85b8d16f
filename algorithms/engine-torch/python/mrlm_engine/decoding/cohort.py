"""Sequences of the same length that share one cache of a transformers module."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import DynamicCache

from mrlm_engine.compute.transfer import to_device


class Cohort:
    """Rows `rows` [n] of a decoder: all have `length` tokens, the cache's batch is in the order of `rows`."""

    def __init__(self, module: Any, rows: npt.NDArray[np.int64], length: int, device: torch.device) -> None:
        self._module = module
        self._device = device
        self._cache = DynamicCache(config=module.config)
        self._length = length
        self._place(rows)

    def prefill(self, prompts: torch.Tensor, copies: torch.Tensor) -> torch.Tensor:
        """Computes `prompts` [distinct, length], and gives row i the state of prompt `copies[i]`; logits [n, vocab]."""
        logits = self._forward(prompts, torch.arange(self._length, device=prompts.device))
        if len(copies) != len(prompts):
            self._cache.reorder_cache(copies)
        return logits[copies]

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Appends `tokens` [n], one to each row; logits [n, vocab]."""
        logits = self._forward(tokens[:, None], torch.full((1,), self._length, device=tokens.device))
        self._length += 1
        return logits

    def keep(self, place: npt.NDArray[np.int64]) -> bool:
        """Moves rows to `place` [rows of the decoder], -1 for those that leave; returns whether any row is left."""
        moved = place[self.rows]
        stays = moved >= 0
        if stays.any() and not stays.all():
            self._cache.reorder_cache(to_device(np.flatnonzero(stays), self._device))
        self._place(moved[stays])
        return len(self.rows) > 0

    def _place(self, rows: npt.NDArray[np.int64]) -> None:
        self.rows = rows
        self.rows_on_device = to_device(rows, self._device)

    def _forward(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        output = self._module(
            input_ids=tokens,
            position_ids=positions.expand(tokens.shape),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = output.logits[:, -1]
        return logits
