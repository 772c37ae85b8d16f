"""Drawing from unnormalised weights with one uniform number for each row."""

from __future__ import annotations

import torch

from mrlm_engine.sampling.cumulative import cumulative_sums

# Vocabularies above this are searched in two levels: first the block, then the token in it.
BLOCK = 1024


def inverse_cdf(weights: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draws indices [n] from non-negative `weights` [n, size] by inverting their cumulative sums.

    `uniform` [n] float64 in [0, 1). Sums are taken in float64, so that neither the size nor a long tail biases the
    draw. An index of weight 0 is never drawn unless all weights of its row are 0 or not finite.
    """
    size = weights.shape[1]
    if size <= 2 * BLOCK:
        return _invert(cumulative_sums(weights), uniform)[0]
    padded = torch.nn.functional.pad(weights, (0, -size % BLOCK)) if size % BLOCK else weights
    padded = padded.view(len(weights), -1, BLOCK)
    block, target = _invert(cumulative_sums(padded.sum(-1, dtype=torch.float64)), uniform)
    inside = cumulative_sums(padded[torch.arange(len(block), device=block.device), block])
    token = _search(inside, target)
    return (block * BLOCK + token).clamp_(max=size - 1)


def _invert(cumulative: torch.Tensor, uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the first index whose cumulative sum exceeds uniform * total, and what of that target is left inside
    it.
    """
    target = uniform * cumulative[:, -1]
    index = _search(cumulative, target)
    before = torch.where(index > 0, cumulative.gather(1, (index - 1).clamp_(min=0)[:, None])[:, 0], 0.0)
    return index, target - before


def _search(cumulative: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    # Rounding may put the target on the total, which no index exceeds.
    total = cumulative[:, -1:]
    below = torch.nextafter(total, torch.zeros_like(total))
    index = torch.searchsorted(cumulative, torch.minimum(target[:, None], below), right=True)
    return index[:, 0].clamp_(max=cumulative.shape[1] - 1)
