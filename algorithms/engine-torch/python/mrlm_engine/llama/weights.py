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

from mrlm_engine.compute.matmul import accumulator_for
from mrlm_engine.gradients.store import add_gradient
from mrlm_engine.llama.projection import add_learnt, add_weight_gradient, merged_weight
from mrlm_engine.llama.shape import DenseShape


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


def fuse_layer(layer: Any, shape: DenseShape, with_adapter: bool) -> LayerWeights:
    """The fused matrices of a transformers decoder layer, detached from it; adapters are merged, or left out."""
    attention, mlp = layer.self_attn, layer.mlp
    scale = 1.0 / math.sqrt(shape.head_size)
    with torch.no_grad():
        qkv = _plain_qkv(attention, shape, with_adapter).mul_(layer.input_layernorm.weight)
        bias = None
        if attention.q_proj.bias is not None:
            query_bias = interleave_heads(attention.q_proj.bias, shape.head_size) * scale
            key_bias = interleave_heads(attention.k_proj.bias, shape.head_size)
            bias = torch.cat([query_bias, key_bias, attention.v_proj.bias])
        gate_up = _plain_gate_up(mlp, with_adapter).mul_(layer.post_attention_layernorm.weight)
        output, down = (merged_weight(each, with_adapter) for each in (attention.o_proj, mlp.down_proj))
        return LayerWeights(qkv, bias, output, gate_up, down)


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


def add_gradients_(into: list[LayerWeights], other: list[LayerWeights]) -> None:
    """Adds another lane's accumulators of every layer."""
    for sums, more in zip(into, other, strict=True):
        for one, two in zip(vars(sums).values(), vars(more).values(), strict=True):
            if one is not None:
                one.add_(two)


def unfuse_gradients(layer: Any, gradients: LayerWeights, shape: DenseShape) -> None:
    """Adds accumulated gradients of the fused matrices to the `.grad` of the layer's parameters that learn."""
    attention, mlp = layer.self_attn, layer.mlp
    with torch.no_grad():
        # Fused = plain * norm weight (by column): both factors get their share.
        norm = layer.input_layernorm.weight
        if norm.requires_grad:
            add_gradient(norm, (gradients.qkv * _plain_qkv(attention, shape, True)).sum(0))
        for projection, part in _projections(attention, gradients.qkv * norm, shape):
            add_weight_gradient(projection, part)
        if gradients.qkv_bias is not None:
            for projection, part in _projections(attention, gradients.qkv_bias, shape):
                add_learnt(projection.bias, part)
        add_weight_gradient(attention.o_proj, gradients.output)
        norm = layer.post_attention_layernorm.weight
        if norm.requires_grad:
            add_gradient(norm, (gradients.gate_up * _plain_gate_up(mlp, True)).sum(0))
        gate_up = gradients.gate_up * norm
        add_weight_gradient(mlp.gate_proj, gate_up[: shape.intermediate])
        add_weight_gradient(mlp.up_proj, gate_up[shape.intermediate :])
        add_weight_gradient(mlp.down_proj, gradients.down)


def _plain_qkv(attention: Any, shape: DenseShape, with_adapter: bool) -> torch.Tensor:
    """Query, key and value as one matrix, without the norm in front of them."""
    query, key, value = (
        merged_weight(each, with_adapter) for each in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    scaled = interleave_heads(query, shape.head_size) * (1.0 / math.sqrt(shape.head_size))
    return torch.cat([scaled, interleave_heads(key, shape.head_size), value])


def _plain_gate_up(mlp: Any, with_adapter: bool) -> torch.Tensor:
    return torch.cat([merged_weight(mlp.gate_proj, with_adapter), merged_weight(mlp.up_proj, with_adapter)])


def _projections(attention: Any, fused: torch.Tensor, shape: DenseShape) -> list[tuple[Any, torch.Tensor]]:
    """Query, key and value projection, each with its part of what belongs to the fused rows."""
    q, k, scale = shape.query_width, shape.key_width, 1.0 / math.sqrt(shape.head_size)
    return [
        (attention.q_proj, split_heads(fused[:q], shape.head_size) * scale),
        (attention.k_proj, split_heads(fused[q : q + k], shape.head_size)),
        (attention.v_proj, fused[q + k :]),
    ]
