"""RMS norms of the queries and keys of each head (Qwen3), with their gradient."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from mrlm_engine.llama.norm import add_normalise_gradient, normalise
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.weights import LayerWeights


@dataclass
class KeptHeads:
    """Normalised heads [T, n, head_size] without weights, and 1 / rms [T, n, 1], for the backward pass."""

    normalised: torch.Tensor
    factor: torch.Tensor

    def nbytes(self) -> int:
        """Returns the bytes kept."""
        return self.normalised.nbytes + self.factor.nbytes


def head_norms_(heads: torch.Tensor, weights: LayerWeights, shape: LlamaShape) -> KeptHeads:
    """Normalises `heads` [T, heads + key_heads, head_size] (queries, then keys) in place."""
    kept = KeptHeads(*normalise(heads, shape.epsilon))
    torch.mul(kept.normalised, _by_head(weights, shape), out=heads)
    return kept


def head_norms_gradient_(
    grad: torch.Tensor, kept: KeptHeads, weights: LayerWeights, gradients: LayerWeights, shape: LlamaShape
) -> None:
    """Overwrites `grad` = d loss / d result by d loss / d heads, both [T, n, head_size]; adds to `gradients`."""
    by_head = torch.linalg.vecdot(grad, kept.normalised, dim=0)
    assert gradients.query_norm is not None
    assert gradients.key_norm is not None
    gradients.query_norm.add_(by_head[: shape.heads].sum(0))
    gradients.key_norm.add_(by_head[shape.heads :].sum(0))
    result = torch.zeros_like(kept.normalised)
    add_normalise_gradient(result, grad * _by_head(weights, shape), kept.normalised, kept.factor)
    grad.copy_(result)


def _by_head(weights: LayerWeights, shape: LlamaShape) -> torch.Tensor:
    """Returns the weights of the norms, [heads + key_heads, head_size]."""
    assert weights.query_norm is not None
    assert weights.key_norm is not None
    return torch.cat((weights.query_norm.expand(shape.heads, -1), weights.key_norm.expand(shape.key_heads, -1)))
