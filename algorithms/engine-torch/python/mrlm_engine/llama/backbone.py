"""The hot path's trunk: embeddings, layers, final norm."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import torch

from mrlm_engine.batching.prefix_layout import PrefixLayout, computed_tokens, prefix_layout
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.llama.backbone_weights import add_gradients_, fold_layer, unfold_gradients, zero_gradients
from mrlm_engine.llama.layer import LayerState, backward_layer, forward_layer
from mrlm_engine.llama.norm import add_normalise_gradient, normalise
from mrlm_engine.llama.rotary import RotaryTable
from mrlm_engine.llama.shape import LlamaShape
from mrlm_engine.llama.weights import LayerWeights
from mrlm_engine.models.loaded_model import LoadedModel


class LlamaBackbone:
    """Forward and backward of a dense decoder with weights fused from the module's, refreshed when those change."""

    has_lanes = True

    def __init__(self, held: LoadedModel, shape: LlamaShape) -> None:
        self.held = held
        self.shape = shape
        self._module: Any = held.module.model
        self._with_adapter = held.adapter_off is None
        self._rotary = RotaryTable(self._module.rotary_emb, held.device)
        self._weights: list[LayerWeights] = []
        self._fused_generation = -1
        self._fusing = threading.Lock()
        # Accumulators of each lane.
        self._gradients: dict[int, list[LayerWeights]] = {}

    def computed_tokens(self, unit: TokenUnit, final_value: bool) -> int:
        """Tokens after sharing the unit's prefix."""
        return computed_tokens(unit, final_value)

    def graph_bytes_per_token(self) -> int:
        """Activations kept for each token in float32; attention probabilities counted at 128 keys."""
        s = self.shape
        layer = 2 * s.hidden + 4 * s.intermediate + 2 * s.query_width + 2 * s.key_width + 128 * s.heads
        layer += s.query_width + s.key_width if s.head_norms else 0
        return 4 * (layer if not self.held.gradient_checkpointing else s.hidden) * s.layers

    def angles(self, layout: PrefixLayout) -> torch.Tensor:
        """Rotary factors [T, 1, head_size / 2] of a packed micro-batch."""
        return self._rotary.upto(layout.max_position).index_select(0, layout.positions).unsqueeze(1)

    def weights(self) -> list[LayerWeights]:
        """The fused weights of every layer for the module's present weights."""
        with self._fusing:
            if self._fused_generation != self.held.generation:
                self._weights = [fold_layer(layer, self.shape, self._with_adapter) for layer in self._module.layers]
                self._fused_generation = self.held.generation
            return self._weights

    def gradients(self, lane: int) -> list[LayerWeights]:
        """A lane's accumulators of the fused weights' gradients."""
        if lane not in self._gradients:
            self._gradients[lane] = [zero_gradients(weights) for weights in self.weights()]
        return self._gradients[lane]

    def finish_gradients(self) -> None:
        """Adds the accumulators, lane by lane, to the parameters' `.grad` and clears them."""
        if not self._gradients:
            return
        total, *others = (self._gradients[lane] for lane in sorted(self._gradients))
        for other in others:
            add_gradients_(total, other)
        for layer, gradients in zip(self._module.layers, total, strict=True):
            unfold_gradients(layer, gradients, self.shape)
        self._gradients.clear()

    def drop_gradients(self) -> None:
        """Clears the accumulators."""
        self._gradients.clear()

    @torch.no_grad()
    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> LlamaRun:
        """Packs a micro-batch, prefixes shared, and computes it."""
        return LlamaRun(self, prefix_layout(units, final_value, self.held.device), keep_graph)

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

    def __init__(self, trunk: LlamaBackbone, layout: PrefixLayout, keep_graph: bool) -> None:
        shape = trunk.shape
        self._trunk = trunk
        self._layout = layout
        self.rows = layout.outputs
        self.computed_tokens = layout.computed_tokens
        self._angles = trunk.angles(layout)
        # With gradient checkpointing a layer's input is kept, and its state computed again in the backward pass.
        self._states: list[LayerState | torch.Tensor] = []
        checkpoint = trunk.held.gradient_checkpointing
        x = trunk.embedding.index_select(0, layout.tokens)
        for i, weights in enumerate(trunk.weights()):
            before = x.clone() if keep_graph and checkpoint else x
            x, state = forward_layer(x, weights, layout, self._angles, shape, self._rows_behind(i))
            if keep_graph:
                self._states.append(before if checkpoint else state)
        self._normalised, self._factor = normalise(x, shape.epsilon)
        self.hidden = self._normalised * trunk.final_norm
        self.graph_bytes = sum(s.nbytes if isinstance(s, torch.Tensor) else s.nbytes() for s in self._states)

    def _rows_behind(self, layer: int) -> torch.Tensor | None:
        """Rows that go on behind a layer's attention: those that outputs read behind the last, else all."""
        return self._layout.outputs.rows if layer == self._trunk.shape.layers - 1 else None

    @torch.no_grad()
    def backward(self, grad_hidden: torch.Tensor, gradients: GradientSink) -> None:
        """Adds the gradient of every trunk weight; `grad_hidden` [R, hidden]."""
        trunk, layout, shape = self._trunk, self._layout, self._trunk.shape
        gradients.add(trunk.final_norm, (grad_hidden * self._normalised).sum(0))
        grad = torch.zeros_like(grad_hidden)
        fused = trunk.gradients(gradients.lane)
        add_normalise_gradient(grad, grad_hidden * trunk.final_norm, self._normalised, self._factor)
        for i in reversed(range(shape.layers)):
            weights, state = trunk.weights()[i], self._states.pop()
            if isinstance(state, torch.Tensor):
                _, state = forward_layer(state, weights, layout, self._angles, shape, self._rows_behind(i))
            grad = backward_layer(grad, state, weights, fused[i], layout, self._angles, shape)
        if not trunk.embedding.requires_grad:
            return
        if trunk.padding_token is not None:
            grad.masked_fill_((layout.tokens == trunk.padding_token)[:, None], 0.0)
        gradients.accumulator(trunk.embedding).index_add_(0, layout.tokens, grad)
