"""Largest difference of two correct computations of a tiny model, by number format."""

from __future__ import annotations

import math

import torch

# Sizes of the models in tiny.py: layers, summands of a product, and the largest logit with random weights.
LAYERS, WIDTH, LOGIT = 2, 48, 5.0
# Results that a layer rounds to its format: two norms, seven products, two activations, attention, two residual sums.
RESULTS = 14


def tolerance(dtype: str, size: float = LOGIT, layers: int = LAYERS) -> float:
    """Returns the largest difference of numbers up to `size` that were computed with other kernels, batches, or
    orders of sums.

    Each rounding adds at most half a unit in the last place of its result; errors in `n` places add up as sqrt(n). In
    16 bits results are rounded, and sums within a product are in float32; in float32 each addition of a sum counts.
    Twice that, since both computations round.
    """
    number = torch.finfo(getattr(torch, dtype))
    roundings = layers * (RESULTS if number.bits == 16 else 4 * WIDTH)
    return 2 * (number.eps / 2) * math.sqrt(roundings) * size
