"""Adapters of layers that are computed in one product: two more products of low rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch


@dataclass
class AdapterWeights:
    """Factors of neighbouring layers with a common input, float32.

    Their A are beside each other, their B are the blocks of a diagonal: x down up is then each layer's own B (A x).
    """

    # [inputs, sum of ranks].
    down: torch.Tensor
    # [sum of ranks, sum of outputs].
    up: torch.Tensor
    # alpha / rank.
    scale: float = 0.0

    def added_to(self, outputs: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Returns `outputs` [n, sum of outputs] plus the adapters' part for x [n, inputs], rounded once to their
        format.

        The order of operations is that of peft's layers, so that trainer and sampler round alike. May overwrite
        `outputs`.
        """
        low = torch.mm(x.float(), self.down)
        if outputs.dtype == torch.float32:
            return outputs.addmm_(low, self.up, alpha=self.scale)
        return torch.addmm(outputs.float(), low, self.up, alpha=self.scale).to(outputs.dtype)


def allocate_adapters(
    source: Mapping[str, torch.Tensor], layers: Sequence[str]
) -> tuple[AdapterWeights | None, dict[str, torch.Tensor]]:
    """Allocates memory for the adapters of `layers`, and by name a view of each factor in its own layout; None without
    adapters.
    """
    adapted = [layer for layer in layers if f"{layer}.lora_A.weight" in source]
    if not adapted:
        return None, {}
    first = source[f"{adapted[0]}.lora_A.weight"]
    ranks = sum(len(source[f"{layer}.lora_A.weight"]) for layer in adapted)
    outputs = sum(len(source[f"{layer}.weight"]) for layer in layers)
    made = AdapterWeights(first.new_zeros(first.shape[1], ranks), first.new_zeros(ranks, outputs))
    views, row, column = {}, 0, 0
    for layer in layers:
        if layer in adapted:
            rank = len(source[f"{layer}.lora_A.weight"])
            views[f"{layer}.lora_A.weight"] = made.down[:, row : row + rank].t()
            views[f"{layer}.lora_B.weight"] = made.up[
                row : row + rank, column : column + len(source[f"{layer}.weight"])
            ].t()
            row += rank
        column += len(source[f"{layer}.weight"])
    return made, views
