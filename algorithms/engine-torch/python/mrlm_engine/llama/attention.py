"""Attention of one group of segments: causal over its own tokens, and over all tokens of its parent.

Short groups keep their probabilities, so that the backward pass is four batched products and nothing is computed twice;
long ones leave both passes to torch's fused kernel, which never holds the matrix of scores.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from mrlm_engine.llama.heads import HeadTensors

# Keys up to which the probabilities are kept. On CPU this takes 0.6 of the fused kernel's time at 76 keys.
MAX_KEPT_KEYS = 384


def causal_mask(queries: int, keys: int, repeats: int, device: torch.device) -> torch.Tensor:
    """Returns [repeats * queries, keys]: 0 where query i reads key j (j <= keys - queries + i), else minus infinity."""
    hidden = torch.ones(queries, keys, dtype=torch.bool, device=device).triu_(keys - queries + 1)
    return torch.zeros(queries, keys, device=device).masked_fill_(hidden, float("-inf")).repeat(repeats, 1)


short_mask = functools.lru_cache(maxsize=64)(causal_mask)


@dataclass
class KeptProbabilities:
    """Tensors that the backward pass of `attend_short` reads."""

    heads: HeadTensors
    probabilities: torch.Tensor

    def nbytes(self) -> int:
        """Returns the bytes kept."""
        tensors = (self.heads.query, self.heads.key, self.heads.value, self.probabilities)
        return sum(tensor.nbytes for tensor in tensors)

    def backward(self, grad: torch.Tensor) -> HeadTensors:
        """Returns the gradients of query, key and value for that of the result [n, g, r * longest, d]."""
        query, key, value = (t.flatten(0, 1) for t in (self.heads.query, self.heads.key, self.heads.value))
        grad, weights = grad.flatten(0, 1), self.probabilities
        grad_value = torch.bmm(weights.transpose(1, 2), grad)
        grad_weights = torch.bmm(grad, value.transpose(1, 2))
        grad_scores = torch.ops.aten._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
        grad_query = torch.bmm(grad_scores, key)
        grad_key = torch.bmm(grad_scores.transpose(1, 2), query)
        return HeadTensors(
            grad_query.view_as(self.heads.query), grad_key.view_as(self.heads.key), grad_value.view_as(self.heads.value)
        )


def attend_short(heads: HeadTensors, queries: int) -> tuple[torch.Tensor, KeptProbabilities]:
    """Computes attention by explicit probabilities; result [n, g, r * queries, d]. The query carries the scale
    already.
    """
    query, key, value = (t.flatten(0, 1) for t in (heads.query, heads.key, heads.value))
    mask = short_mask(queries, key.shape[1], query.shape[1] // queries, query.device)
    scores = torch.baddbmm(mask.expand(query.shape[0], -1, -1), query, key.transpose(1, 2))
    probabilities = torch.softmax(scores, dim=-1)
    result = torch.bmm(probabilities, value)
    return result.view_as(heads.query), KeptProbabilities(heads, probabilities)


@dataclass
class KeptGraph:
    """The small autograd graph of one fused attention call."""

    inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    result: torch.Tensor

    def nbytes(self) -> int:
        """Returns the bytes kept (the fused kernel keeps its inputs, its result and one number a row)."""
        return sum(tensor.nbytes for tensor in (*self.inputs, self.result))

    def backward(self, grad: torch.Tensor) -> HeadTensors:
        """Returns the gradients of query, key and value for that of the result [n, g, r * longest, d]."""
        grads = torch.autograd.grad(self.result, self.inputs, grad.view_as(self.result))
        return HeadTensors(*grads)


def attend_long(heads: HeadTensors, queries: int) -> tuple[torch.Tensor, KeptGraph]:
    """Computes attention by torch's scaled_dot_product_attention; result [n, g, r * queries, d]."""
    inputs = (heads.query, heads.key, heads.value)
    leaves = tuple(t.detach().requires_grad_() for t in inputs)
    n, g, rows, d = heads.query.shape
    keys, ratio = heads.key.shape[2], rows // queries
    mask = None if keys == queries else causal_mask(queries, keys, 1, heads.query.device)
    with torch.enable_grad():
        query, key, value = leaves
        result = F.scaled_dot_product_attention(
            query.view(n, g * ratio, queries, d),
            key.repeat_interleave(ratio, 1) if ratio > 1 else key,
            value.repeat_interleave(ratio, 1) if ratio > 1 else value,
            attn_mask=mask,
            is_causal=mask is None,
            scale=1.0,
        ).reshape(n, g, rows, d)
    return result.detach(), KeptGraph((query, key, value), result)


def attend(heads: HeadTensors, queries: int) -> tuple[torch.Tensor, KeptProbabilities | KeptGraph]:
    """Computes attention with the faster implementation for the length."""
    if heads.key.shape[2] <= MAX_KEPT_KEYS:
        return attend_short(heads, queries)
    return attend_long(heads, queries)
