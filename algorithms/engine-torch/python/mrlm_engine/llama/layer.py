"""One decoder layer, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from mrlm_engine.batching.prefix_layout import PrefixLayout
from mrlm_engine.compute.matmul import add_linear_, add_weight_gradient_, linear
from mrlm_engine.llama.attention import KeptGraph, KeptProbabilities, attend
from mrlm_engine.llama.head_norms import KeptHeads, head_norms_, head_norms_gradient_
from mrlm_engine.llama.heads import gather_heads, gather_output_gradient, scatter_gradients, scatter_output
from mrlm_engine.llama.norm import add_normalise_gradient, normalise
from mrlm_engine.llama.rotary import rotate_
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.swiglu import swiglu, swiglu_gradient_
from mrlm_engine.llama.weights import LayerWeights


@dataclass
class LayerState:
    """Tensors of the forward pass that the backward pass of a layer reads."""

    attention_input: torch.Tensor
    attention_factor: torch.Tensor
    # None without norms of the heads.
    head_norms: KeptHeads | None
    attention: list[KeptProbabilities | KeptGraph]
    attention_output: torch.Tensor
    mlp_input: torch.Tensor
    mlp_factor: torch.Tensor
    gate_up: torch.Tensor
    silu: torch.Tensor
    activation: torch.Tensor
    # Rows that are computed after attention; None for all rows.
    rows: torch.Tensor | None

    def nbytes(self) -> int:
        """Returns the bytes kept."""
        tensors = (
            self.attention_input,
            self.attention_output,
            self.mlp_input,
            self.gate_up,
            self.silu,
            self.activation,
        )
        heads = 0 if self.head_norms is None else self.head_norms.nbytes()
        return sum(t.nbytes for t in tensors) + sum(kept.nbytes() for kept in self.attention) + heads


def forward_layer(
    x: torch.Tensor,
    weights: LayerWeights,
    layout: PrefixLayout,
    angles: torch.Tensor,
    shape: LlamaShape,
    rows: torch.Tensor | None = None,
) -> tuple[torch.Tensor, LayerState]:
    """Returns the residual stream behind the layer, and the state for the backward pass; overwrites `x` [T, hidden].

    In the last layer `rows` [R] are those that outputs read: only they are computed behind attention, as [R, hidden].
    """
    attention_input, attention_factor = normalise(x, shape.epsilon)
    qkv = linear(attention_input, weights.qkv, weights.qkv_bias)
    heads = _rotated_heads(qkv, shape)
    kept_heads = head_norms_(heads, weights, shape) if shape.head_norms else None
    rotate_(heads, angles)
    output = _for_groups(qkv, shape.query_width, layout)
    kept: list[KeptProbabilities | KeptGraph] = []
    for group in layout.groups:
        result, state = attend(gather_heads(qkv, group, shape), group.longest)
        scatter_output(result, output, group, shape)
        kept.append(state)
    if rows is not None:
        x, output = x.index_select(0, rows), output.index_select(0, rows)
    add_linear_(x, output, weights.output)
    if weights.output_bias is not None:
        x += weights.output_bias
    mlp_input, mlp_factor = normalise(x, shape.epsilon)
    gate_up = linear(mlp_input, weights.gate_up)
    activation, silu = swiglu(gate_up)
    add_linear_(x, activation, weights.down)
    return x, LayerState(
        attention_input=attention_input,
        attention_factor=attention_factor,
        head_norms=kept_heads,
        attention=kept,
        attention_output=output,
        mlp_input=mlp_input,
        mlp_factor=mlp_factor,
        gate_up=gate_up,
        silu=silu,
        activation=activation,
        rows=rows,
    )


def backward_layer(
    grad: torch.Tensor,
    state: LayerState,
    weights: LayerWeights,
    gradients: LayerWeights,
    layout: PrefixLayout,
    angles: torch.Tensor,
    shape: LlamaShape,
) -> torch.Tensor:
    """Returns the gradient of the layer's input [T, hidden] for `grad` of its output (overwritten); adds to
    `gradients`.
    """
    add_weight_gradient_(gradients.down, grad, state.activation)
    grad_gate_up = swiglu_gradient_(linear(grad, weights.down.t()), state.gate_up, state.silu)
    add_weight_gradient_(gradients.gate_up, grad_gate_up, state.mlp_input)
    grad_input = linear(grad_gate_up, weights.gate_up.t())
    add_normalise_gradient(grad, grad_input, state.mlp_input, state.mlp_factor)

    add_weight_gradient_(gradients.output, grad, state.attention_output)
    if gradients.output_bias is not None:
        gradients.output_bias.add_(grad.sum(0))
    grad_output = linear(grad, weights.output.t())
    if state.rows is not None:
        grad = _spread(grad, state.rows, layout.length)
        grad_output = _spread(grad_output, state.rows, layout.length)
    grad_qkv = _for_groups(grad, weights.qkv.shape[0], layout)
    for group, kept in zip(layout.groups, state.attention, strict=True):
        scatter_gradients(kept.backward(gather_output_gradient(grad_output, group, shape)), grad_qkv, group, shape)
    grad_heads = _rotated_heads(grad_qkv, shape)
    rotate_(grad_heads, angles.conj().resolve_conj())
    if state.head_norms is not None:
        head_norms_gradient_(grad_heads, state.head_norms, weights, gradients, shape)
    add_weight_gradient_(gradients.qkv, grad_qkv, state.attention_input)
    if gradients.qkv_bias is not None:
        gradients.qkv_bias.add_(grad_qkv.sum(0))
    grad_input = linear(grad_qkv, weights.qkv.t())
    add_normalise_gradient(grad, grad_input, state.attention_input, state.attention_factor)
    return grad


def _for_groups(like: torch.Tensor, columns: int, layout: PrefixLayout) -> torch.Tensor:
    """Returns [T, columns] for attention groups to write to; padding, which they leave out, is 0."""
    result = like.new_empty(layout.length, columns)
    result[layout.computed_tokens :] = 0.0
    return result


def _spread(grad: torch.Tensor, rows: torch.Tensor, length: int) -> torch.Tensor:
    """Returns `grad` [R, columns] at its rows of [length, columns], zeros elsewhere. Rows are unique."""
    return grad.new_zeros(length, grad.shape[1]).index_copy_(0, rows, grad)


def _rotated_heads(qkv: torch.Tensor, shape: LlamaShape) -> torch.Tensor:
    """Returns the query and key columns as heads [T, heads + key_heads, head_size]."""
    columns = qkv[:, : shape.query_width + shape.key_width]
    return columns.view(-1, shape.heads + shape.key_heads, shape.head_size)
