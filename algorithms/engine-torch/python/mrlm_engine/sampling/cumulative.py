"""Cumulative sums that are deterministic on every device."""

from __future__ import annotations

import torch

# Bits of the integers that represent the weights of a row. Float64 represents their sums exactly, rounding included.
_BITS = 52


def cumulative_sums(weights: torch.Tensor) -> torch.Tensor:
    """Returns cumulative sums, float64 [n, size], of non-negative `weights` [n, size] along the last dimension.

    On GPUs a scan of floating-point numbers has no fixed order, and torch refuses it in deterministic mode. Sums of
    integers do not depend on the order, so on a GPU each weight is rounded to a multiple of 2^-52 of its row's sum. A
    weight of 0 stays 0, and sums never decrease.
    """
    if weights.device.type == "cpu":
        return weights.cumsum(-1, dtype=torch.float64)
    return integer_sums(weights)


def integer_sums(weights: torch.Tensor) -> torch.Tensor:
    """Computes `cumulative_sums` by integers."""
    unit = weights.sum(-1, keepdim=True, dtype=torch.float64) / 2.0**_BITS
    return (weights / unit).round_().long().cumsum(-1) * unit
