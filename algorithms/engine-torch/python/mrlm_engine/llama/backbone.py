"""Hand-written training passes of the Llama family: embeddings, layers, final norm."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import torch

from mrlm_engine.batching.prefix_layout import PrefixLayout, packed_size, prefix_layout
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import PassGradients
from mrlm_engine.llama.backbone_weights import add_gradients_, fold_layer, unfold_gradients, zero_gradients
from mrlm_engine.llama.layer import LayerState, backward_layer, forward_layer
from mrlm_engine.llama.norm import add_normalise_gradient, normalise
from mrlm_engine.llama.rotary import RotaryTable
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.weights import LayerWeights
from mrlm_engine.models.loaded_model import LoadedModel


class LlamaBackbone:
    """Forward and backward passes with weights folded from those of the module, again after each change of these."""

    has_lanes = True

    def __init__(self, model: LoadedModel, shape: LlamaShape) -> None:
        self.model = model
        self.shape = shape
        self._module: Any = model.module.model
        self._with_adapter = model.adapter_off is None
        self._rotary = RotaryTable(self._module.rotary_emb, model.device)
        self._weights: list[LayerWeights] = []
        self._folded_generation = -1
        self._folding = threading.Lock()

    def token_cost(self, unit: TokenUnit, final_value: bool) -> int:
        """Returns the tokens after sharing the unit's prefix."""
        return packed_size(unit, final_value)[0]

    def angles(self, layout: PrefixLayout) -> torch.Tensor:
        """Returns the rotary factors [T, 1, head_size / 2] of a packed micro-batch."""
        return self._rotary.upto(layout.max_position).index_select(0, layout.positions).unsqueeze(1)

    def weights(self) -> list[LayerWeights]:
        """Returns the folded weights of every layer for the module's present weights."""
        with self._folding:
            if self._folded_generation != self.model.generation:
                self._weights = [fold_layer(layer, self.shape, self._with_adapter) for layer in self._module.layers]
                self._folded_generation = self.model.generation
            return self._weights

    def accumulators(self, gradients: PassGradients) -> list[LayerWeights]:
        """Returns the sums of the folded weights' gradients, made when first needed."""
        if not gradients.layers:
            gradients.layers = [zero_gradients(weights) for weights in self.weights()]
        return gradients.layers

    def finish_gradients(self, gradients: Sequence[PassGradients]) -> None:
        """Adds the sums of folded weights to the gradients of the parameters, and clears them."""
        sums = [each.layers for each in gradients if each.layers]
        if not sums:
            return
        total, *others = sums
        for other in others:
            add_gradients_(total, other)
        for layer, layer_total in zip(self._module.layers, total, strict=True):
            unfold_gradients(layer, layer_total, self.shape, gradients[0].sink)
        for each in gradients:
            each.layers = []

    @torch.no_grad()
    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> LlamaRun:
        """Packs a micro-batch, prefixes shared, and computes it."""
        return LlamaRun(self, prefix_layout(units, final_value, self.model.device), keep_graph)

    @property
    def embedding(self) -> torch.nn.Parameter:
        """[vocabulary, hidden]."""
        weight: torch.nn.Parameter = self._module.embed_tokens.weight
        return weight

    @property
    def padding_token(self) -> int | None:
        """The token whose input embedding has no gradient, as in torch.nn.Embedding.

        transformers starts that row at zero, where a norm's gradient is 1 / sqrt(epsilon), a thousand: one padding
        token that a random policy samples would outweigh everything else in the gradient norm.
        """
        index: int | None = self._module.embed_tokens.padding_idx
        return index

    @property
    def final_norm(self) -> torch.nn.Parameter:
        """[hidden]."""
        weight: torch.nn.Parameter = self._module.norm.weight
        return weight


class LlamaRun:
    """One forward pass of a LlamaBackbone."""

    def __init__(self, backbone: LlamaBackbone, layout: PrefixLayout, keep_graph: bool) -> None:
        shape = backbone.shape
        self._backbone = backbone
        self._layout = layout
        self.rows = layout.outputs
        self.computed_tokens = layout.computed_tokens
        self._angles = backbone.angles(layout)
        # With gradient checkpointing a layer's input is kept, and its state computed again in the backward pass.
        self._states: list[LayerState | torch.Tensor] = []
        checkpoint = backbone.model.gradient_checkpointing
        x = backbone.embedding.index_select(0, layout.tokens).float()
        for i, weights in enumerate(backbone.weights()):
            before = x.clone() if keep_graph and checkpoint else x
            x, state = forward_layer(x, weights, layout, self._angles, shape, self._rows_behind(i))
            if keep_graph:
                self._states.append(before if checkpoint else state)
        self._normalised, self._factor = normalise(x, shape.epsilon)
        self.hidden = self._normalised * backbone.final_norm
        self.graph_bytes = sum(s.nbytes if isinstance(s, torch.Tensor) else s.nbytes() for s in self._states)

    def _rows_behind(self, layer: int) -> torch.Tensor | None:
        """Returns the rows that are computed after a layer's attention: those that outputs read in the last layer,
        else all.
        """
        return self._layout.outputs.rows if layer == self._backbone.shape.layers - 1 else None

    @torch.no_grad()
    def backward(self, grad_hidden: torch.Tensor, gradients: PassGradients) -> None:
        """Adds the gradient of every weight for `grad_hidden` [R, hidden]."""
        backbone, layout, shape = self._backbone, self._layout, self._backbone.shape
        gradients.sink.add(backbone.final_norm, (grad_hidden * self._normalised).sum(0))
        grad = torch.zeros_like(grad_hidden)
        sums = backbone.accumulators(gradients)
        add_normalise_gradient(grad, grad_hidden * backbone.final_norm, self._normalised, self._factor)
        for i in reversed(range(shape.layers)):
            weights, state = backbone.weights()[i], self._states.pop()
            if isinstance(state, torch.Tensor):
                _, state = forward_layer(state, weights, layout, self._angles, shape, self._rows_behind(i))
            grad = backward_layer(grad, state, weights, sums[i], layout, self._angles, shape)
        if not backbone.embedding.requires_grad:
            return
        if backbone.padding_token is not None:
            grad.masked_fill_((layout.tokens == backbone.padding_token)[:, None], 0.0)
        gradients.sink.accumulator(backbone.embedding).index_add_(0, layout.tokens, grad)
