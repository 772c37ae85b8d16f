"""The part of the vocabulary that top-k and top-p keep."""

from __future__ import annotations

import torch

from mrlm_engine.sampling.cumulative import cumulative_sums


def truncated_support(scaled: torch.Tensor, top_k: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """Returns the tokens to keep, bool [n, vocabulary], for logits that have been divided by the temperature.

    `top_k` [n] int64 keeps the k largest (0: all). `top_p` [n] float64 then keeps the smallest set of the most likely
    tokens whose probability, renormalised after top-k, reaches p (Holtzman et al., arXiv 1904.09751), at least one.
    Ties are broken by the lower token id.
    """
    vocabulary = scaled.shape[1]
    ordered, order = scaled.sort(dim=-1, descending=True, stable=True)
    limit = torch.where(top_k > 0, top_k, vocabulary)[:, None]
    kept = torch.arange(vocabulary, device=scaled.device)[None] < limit
    probability = torch.softmax(ordered.masked_fill(~kept, -torch.inf).double(), -1)
    kept &= cumulative_sums(probability) - probability < top_p[:, None]
    kept[:, 0] = True
    return torch.zeros_like(kept).scatter_(1, order, kept)
