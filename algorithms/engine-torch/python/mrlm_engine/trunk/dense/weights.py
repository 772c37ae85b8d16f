"""A layer's weights as the hot path multiplies by them, and the way of their gradients back to the parameters.

Exact rewritings of the transformers module (rounding apart):
- query, key and value projections are one matrix, gate and up projections another;
- the weight of the RMS norm before a projection is folded into its columns, so norms only scale rows;
- 1 / sqrt(head size) is folded into the query rows;
- the two halves of each head's query and key dimensions are interleaved, so that a rotation by an angle is one complex
  multiplication (scores do not depend on the order of dimensions).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from mrlm_engine.products import accumulator_for
from mrlm_engine.training.gradients import add_gradient
from mrlm_engine.trunk.dense.shape import DenseShape


@dataclass
class LayerWeights:
    """One layer's matrices, [outputs, inputs] as torch.nn.Linear has them; `qkv_bias` may be absent."""

    qkv: torch.Tensor
    qkv_bias: torch.Tensor | None
    output: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


def interleave_heads(rows: torch.Tensor, head_size: int) -> torch.Tensor:
    """Reorders rows [heads * head_size, ...] from (first half, second half) to pairs, head by head."""
    tail = rows.shape[1:]
    return rows.reshape(-1, 2, head_size // 2, *tail).transpose(1, 2).reshape(-1, *tail)


def split_heads(rows: torch.Tensor, head_size: int) -> torch.Tensor:
    """The inverse of `interleave_heads`."""
    tail = rows.shape[1:]
    return rows.reshape(-1, head_size // 2, 2, *tail).transpose(1, 2).reshape(-1, *tail)


def fuse_layer(layer: Any, shape: DenseShape) -> LayerWeights:
    """The fused matrices of a transformers decoder layer, detached from it."""
    attention, mlp = layer.self_attn, layer.mlp
    scale = 1.0 / math.sqrt(shape.head_size)
    with torch.no_grad():
        query = interleave_heads(attention.q_proj.weight, shape.head_size) * scale
        key = interleave_heads(attention.k_proj.weight, shape.head_size)
        qkv = torch.cat([query, key, attention.v_proj.weight]).mul_(layer.input_layernorm.weight)
        bias = None
        if attention.q_proj.bias is not None:
            query_bias = interleave_heads(attention.q_proj.bias, shape.head_size) * scale
            key_bias = interleave_heads(attention.k_proj.bias, shape.head_size)
            bias = torch.cat([query_bias, key_bias, attention.v_proj.bias])
        gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]).mul_(layer.post_attention_layernorm.weight)
        return LayerWeights(qkv, bias, attention.o_proj.weight.detach(), gate_up, mlp.down_proj.weight.detach())


def zero_gradients(weights: LayerWeights) -> LayerWeights:
    """Accumulators of the same shapes."""
    bias = None if weights.qkv_bias is None else torch.zeros_like(weights.qkv_bias)
    return LayerWeights(
        accumulator_for(weights.qkv),
        bias,
        accumulator_for(weights.output),
        accumulator_for(weights.gate_up),
        accumulator_for(weights.down),
    )


def unfuse_gradients(layer: Any, gradients: LayerWeights, shape: DenseShape) -> None:
    """Adds accumulated gradients of the fused matrices to the `.grad` of the layer's parameters."""
    attention, mlp = layer.self_attn, layer.mlp
    scale = 1.0 / math.sqrt(shape.head_size)
    q, k = shape.query_width, shape.key_width
    with torch.no_grad():
        # Fused = plain * norm weight (by column): both factors get their share.
        plain = torch.cat(
            [
                interleave_heads(attention.q_proj.weight, shape.head_size) * scale,
                interleave_heads(attention.k_proj.weight, shape.head_size),
                attention.v_proj.weight,
            ]
        )
        add_gradient(layer.input_layernorm.weight, (gradients.qkv * plain).sum(0))
        qkv = gradients.qkv * layer.input_layernorm.weight
        _add_projections(attention, "weight", qkv, scale, q, k, shape.head_size)
        if gradients.qkv_bias is not None:
            _add_projections(attention, "bias", gradients.qkv_bias, scale, q, k, shape.head_size)
        add_gradient(attention.o_proj.weight, gradients.output)
        plain = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        add_gradient(layer.post_attention_layernorm.weight, (gradients.gate_up * plain).sum(0))
        gate_up = gradients.gate_up * layer.post_attention_layernorm.weight
        add_gradient(mlp.gate_proj.weight, gate_up[: shape.intermediate])
        add_gradient(mlp.up_proj.weight, gate_up[shape.intermediate :])
        add_gradient(mlp.down_proj.weight, gradients.down)


def _add_projections(
    attention: Any, name: str, fused: torch.Tensor, scale: float, q: int, k: int, head_size: int
) -> None:
    add_gradient(getattr(attention.q_proj, name), split_heads(fused[:q], head_size) * scale)
    add_gradient(getattr(attention.k_proj, name), split_heads(fused[q : q + k], head_size))
    add_gradient(getattr(attention.v_proj, name), fused[q + k :])
