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
    """Tensors of the forward pass that the backward pass of a layer reads.

    Inputs of products are in the format of the weights, the rest is in float32.
    The activation of the feed-forward part is computed again, which takes less time than it takes memory to keep.
    """

    attention_input: torch.Tensor
    attention_factor: torch.Tensor
    # None without norms of the heads.
    head_norms: KeptHeads | None
    attention: list[KeptProbabilities | KeptGraph]
    attention_output: torch.Tensor
    mlp_input: torch.Tensor
    mlp_factor: torch.Tensor
    gate_up: torch.Tensor
    # Rows that are computed after attention; None for all rows.
    rows: torch.Tensor | None

    def nbytes(self) -> int:
        """Returns the bytes kept."""
        tensors = (
            self.attention_input,
            self.attention_output,
            self.mlp_input,
            self.gate_up,
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
    normalised, attention_factor = normalise(x, shape.epsilon)
    qkv = linear(_input(normalised, weights.input_norm, weights), weights.qkv, weights.qkv_bias).float()
    attention_input = _lowered(normalised, weights)
    heads = _rotated_heads(qkv, shape)
    kept_heads = head_norms_(heads, weights, shape) if shape.head_norms else None
    rotate_(heads, angles)
    output = _for_groups(qkv, shape.query_width, layout)
    kept: list[KeptProbabilities | KeptGraph] = []
    for group in layout.groups:
        result, state = attend(gather_heads(qkv, group, shape), group.longest)
        scatter_output(result, output, group, shape)
        kept.append(state)
    output = _lowered(output, weights)
    if rows is not None:
        x, output = x.index_select(0, rows), output.index_select(0, rows)
    add_linear_(x, output, weights.output)
    if weights.output_bias is not None:
        x += weights.output_bias
    normalised, mlp_factor = normalise(x, shape.epsilon)
    gate_up = linear(_input(normalised, weights.mlp_norm, weights), weights.gate_up)
    add_linear_(x, swiglu(gate_up)[0], weights.down)
    return x, LayerState(
        attention_input=attention_input,
        attention_factor=attention_factor,
        head_norms=kept_heads,
        attention=kept,
        attention_output=output,
        mlp_input=_lowered(normalised, weights),
        mlp_factor=mlp_factor,
        gate_up=gate_up,
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
    activation, silu = swiglu(state.gate_up)
    low = _lowered(grad, weights)
    add_weight_gradient_(gradients.down, low, activation)
    grad_gate_up = swiglu_gradient_(linear(low, weights.down.t()), state.gate_up, silu)
    add_weight_gradient_(gradients.gate_up, grad_gate_up, _input(state.mlp_input, weights.mlp_norm, weights))
    grad_input = linear(grad_gate_up, weights.gate_up.t()).float()
    _add_norm_gradients(grad, grad_input, state.mlp_input, state.mlp_factor, weights.mlp_norm, gradients.mlp_norm)

    low = _lowered(grad, weights)
    add_weight_gradient_(gradients.output, low, state.attention_output)
    if gradients.output_bias is not None:
        gradients.output_bias.add_(grad.sum(0))
    grad_output = linear(low, weights.output.t()).float()
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
    low = _lowered(grad_qkv, weights)
    add_weight_gradient_(gradients.qkv, low, _input(state.attention_input, weights.input_norm, weights))
    if gradients.qkv_bias is not None:
        gradients.qkv_bias.add_(grad_qkv.sum(0))
    grad_input = linear(low, weights.qkv.t()).float()
    _add_norm_gradients(
        grad, grad_input, state.attention_input, state.attention_factor, weights.input_norm, gradients.input_norm
    )
    return grad


def _lowered(x: torch.Tensor, weights: LayerWeights) -> torch.Tensor:
    """Returns `x` in the format of the products; itself in float32."""
    return x.to(weights.qkv.dtype)


def _input(normalised: torch.Tensor, norm: torch.Tensor | None, weights: LayerWeights) -> torch.Tensor:
    """Returns the input of a product behind a norm, whose weight may be folded into the product's."""
    return normalised if norm is None else _lowered(normalised * norm, weights)


def _add_norm_gradients(
    grad: torch.Tensor,
    grad_input: torch.Tensor,
    normalised: torch.Tensor,
    factor: torch.Tensor,
    norm: torch.Tensor | None,
    norm_gradient: torch.Tensor | None,
) -> None:
    """Adds to `grad`, and to the gradient of a norm's weight that is not folded, for `grad_input` of the norm's result
    (overwritten).
    """
    if norm is not None and norm_gradient is not None:
        normalised = normalised.float()
        norm_gradient.add_(torch.linalg.vecdot(grad_input, normalised, dim=0))
        grad_input = grad_input.mul_(norm)
    add_normalise_gradient(grad, grad_input, normalised, factor)


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
