"""A layer's weights as the training backbone multiplies by them, and the mapping of their gradients to the parameters.

In addition to the fused layout (`weights.py`), and exact apart from rounding:
- the weight of the RMS norm in front of a projection is folded into its columns, so the norm only scales rows (in
  float32; a product of two bfloat16 numbers would be rounded, and the sampler's weights are not);
- 1 / sqrt(head size) is folded into the query rows, or into the query norm where there is one.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from mrlm_engine.compute.matmul import accumulator_for
from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.llama.projection import add_weight_gradient, merged_weight
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.weights import LayerWeights, interleave_heads, split_heads


@torch.no_grad()
def fold_layer(layer: Any, shape: LlamaShape, with_adapter: bool) -> LayerWeights:
    """Returns the folded weights of a transformers decoder layer, detached; adapters are merged, or left out."""
    attention, mlp, size = layer.self_attn, layer.mlp, shape.head_size
    input_norm, mlp_norm = layer.input_layernorm.weight.detach(), layer.post_attention_layernorm.weight.detach()
    qkv, gate_up = _plain_qkv(attention, shape, with_adapter), _plain_gate_up(mlp, with_adapter)
    is_folded = qkv.dtype == torch.float32
    if is_folded:
        qkv.mul_(input_norm)
        gate_up.mul_(mlp_norm)
    bias = query_norm = key_norm = None
    if attention.q_proj.bias is not None:
        query_bias = interleave_heads(attention.q_proj.bias, size) * _row_scale(shape)
        bias = torch.cat([query_bias, interleave_heads(attention.k_proj.bias, size), attention.v_proj.bias])
    if shape.head_norms:
        query_norm = interleave_heads(attention.q_norm.weight.float(), size) * _score_scale(shape)
        key_norm = interleave_heads(attention.k_norm.weight.float(), size)
    output, down = (merged_weight(each, with_adapter) for each in (attention.o_proj, mlp.down_proj))
    output_bias = None if attention.o_proj.bias is None else attention.o_proj.bias.detach()
    norms = (None, None) if is_folded else (input_norm.float(), mlp_norm.float())
    return LayerWeights(qkv, bias, output, output_bias, gate_up, down, query_norm, key_norm, *norms)


def zero_gradients(weights: LayerWeights) -> LayerWeights:
    """Returns accumulators of the same shapes, in float32."""
    return LayerWeights(
        qkv=accumulator_for(weights.qkv),
        qkv_bias=_zeros(weights.qkv_bias),
        output=accumulator_for(weights.output),
        output_bias=_zeros(weights.output_bias),
        gate_up=accumulator_for(weights.gate_up),
        down=accumulator_for(weights.down),
        query_norm=_zeros(weights.query_norm),
        key_norm=_zeros(weights.key_norm),
        input_norm=_zeros(weights.input_norm),
        mlp_norm=_zeros(weights.mlp_norm),
    )


def add_gradients_(into: list[LayerWeights], other: list[LayerWeights]) -> None:
    """Adds the accumulators of every layer of `other`."""
    for sums, more in zip(into, other, strict=True):
        for one, two in zip(vars(sums).values(), vars(more).values(), strict=True):
            if one is not None:
                one.add_(two)


@torch.no_grad()
def unfold_gradients(layer: Any, gradients: LayerWeights, shape: LlamaShape, sink: GradientSink) -> None:
    """Adds accumulated gradients of the folded weights to those of the layer's trainable parameters in `sink`."""
    attention, mlp = layer.self_attn, layer.mlp
    qkv, gate_up = gradients.qkv, gradients.gate_up
    # Folded = plain * norm weight (by column), so both factors have a gradient.
    norm = layer.input_layernorm.weight
    if gradients.input_norm is not None:
        sink.add(norm, gradients.input_norm)
    else:
        if norm.requires_grad:
            sink.add(norm, (qkv * _plain_qkv(attention, shape, True)).sum(0))
        qkv = qkv * norm
    for projection, part in _projections(attention, qkv, shape):
        add_weight_gradient(sink, projection, part)
    if gradients.qkv_bias is not None:
        for projection, part in _projections(attention, gradients.qkv_bias, shape):
            sink.add(projection.bias, part)
    if gradients.query_norm is not None and gradients.key_norm is not None:
        query_norm = split_heads(gradients.query_norm, shape.head_size) * _score_scale(shape)
        sink.add(attention.q_norm.weight, query_norm)
        sink.add(attention.k_norm.weight, split_heads(gradients.key_norm, shape.head_size))
    add_weight_gradient(sink, attention.o_proj, gradients.output)
    if gradients.output_bias is not None:
        sink.add(attention.o_proj.bias, gradients.output_bias)
    norm = layer.post_attention_layernorm.weight
    if gradients.mlp_norm is not None:
        sink.add(norm, gradients.mlp_norm)
    else:
        if norm.requires_grad:
            sink.add(norm, (gate_up * _plain_gate_up(mlp, True)).sum(0))
        gate_up = gate_up * norm
    add_weight_gradient(sink, mlp.gate_proj, gate_up[: shape.intermediate])
    add_weight_gradient(sink, mlp.up_proj, gate_up[shape.intermediate :])
    add_weight_gradient(sink, mlp.down_proj, gradients.down)


def _score_scale(shape: LlamaShape) -> float:
    """Returns the factor of the attention scores."""
    return 1.0 / math.sqrt(shape.head_size)


def _row_scale(shape: LlamaShape) -> float:
    """Returns the factor of the query rows: a norm behind them would cancel one."""
    return 1.0 if shape.head_norms else _score_scale(shape)


def _plain_qkv(attention: Any, shape: LlamaShape, with_adapter: bool) -> torch.Tensor:
    """Returns the query, key and value as one matrix, without the norm in front of them."""
    query, key, value = (
        merged_weight(each, with_adapter) for each in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    scaled = interleave_heads(query, shape.head_size) * _row_scale(shape)
    return torch.cat([scaled, interleave_heads(key, shape.head_size), value])


def _plain_gate_up(mlp: Any, with_adapter: bool) -> torch.Tensor:
    return torch.cat([merged_weight(mlp.gate_proj, with_adapter), merged_weight(mlp.up_proj, with_adapter)])


def _projections(attention: Any, fused: torch.Tensor, shape: LlamaShape) -> list[tuple[Any, torch.Tensor]]:
    """Returns the query, key and value projection, each with its part of the fused rows."""
    q, k = shape.query_width, shape.key_width
    return [
        (attention.q_proj, split_heads(fused[:q], shape.head_size) * _row_scale(shape)),
        (attention.k_proj, split_heads(fused[q : q + k], shape.head_size)),
        (attention.v_proj, fused[q + k :]),
    ]


def _zeros(weight: torch.Tensor | None) -> torch.Tensor | None:
    return None if weight is None else torch.zeros_like(weight, dtype=torch.float32)
