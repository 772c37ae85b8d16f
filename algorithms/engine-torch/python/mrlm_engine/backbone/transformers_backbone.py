"""Backbone of any architecture: the transformers module's own forward pass and torch's autograd."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from mrlm_engine.batching.padded_layout import PaddedLayout, padded_layout
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import PassGradients
from mrlm_engine.models.loaded_model import LoadedModel


class TransformersBackbone:
    """Runs `module.base_model` on padded rows; no key-value cache, no dropout."""

    # Autograd adds to the parameters themselves.
    has_lanes = False

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        if model.gradient_checkpointing and model.trainable:
            enable = getattr(
                model.module, "activation_checkpointing_enable", model.module.gradient_checkpointing_enable
            )
            enable()
            # transformers recomputes only layers in training mode. Their parts stay in evaluation mode, in
            # which it draws no random numbers: some experts and routers do, whatever their configuration.
            for part in model.module.modules():
                part.training = bool(getattr(part, "gradient_checkpointing", False))

    def computed_tokens(self, unit: TokenUnit, final_value: bool) -> int:
        """Returns the tokens of the unit with padding to its longest sequence."""
        return len(unit.sequences) * max(sequence.needed(final_value) for sequence in unit.sequences)

    def graph_bytes_per_token(self) -> int:
        """About 17 numbers of the hidden size a layer (Korthikanti et al., arXiv 2205.05198); one when checkpointed."""
        config = self.model.config
        layers, hidden = int(getattr(config, "num_hidden_layers", 1)), int(getattr(config, "hidden_size", 1))
        kept = 1 if self.model.gradient_checkpointing else 17
        return kept * layers * hidden * self.model.dtype.itemsize

    def finish_gradients(self, gradients: Sequence[PassGradients]) -> None:
        """Does nothing: autograd adds to `.grad` itself."""

    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> TransformersRun:
        """Pads a micro-batch and computes it."""
        return TransformersRun(self, padded_layout(units, final_value, self.model.device), keep_graph)


class TransformersRun:
    """One forward pass of a TransformersBackbone."""

    def __init__(self, backbone: TransformersBackbone, layout: PaddedLayout, keep_graph: bool) -> None:
        model = backbone.model
        positions = torch.arange(layout.tokens.shape[1], device=model.device)[None]
        with torch.set_grad_enabled(keep_graph), model.active_adapter():
            states = model.module.base_model(
                input_ids=layout.tokens,
                attention_mask=layout.mask,
                position_ids=positions.expand_as(layout.tokens),
                use_cache=False,
            ).last_hidden_state
            self._rows = states.flatten(0, 1).index_select(0, layout.outputs.rows)
        self.hidden = self._rows.detach()
        self.rows = layout.outputs
        self.computed_tokens = layout.computed_tokens
        self.graph_bytes = layout.computed_tokens * backbone.graph_bytes_per_token() if keep_graph else 0

    def backward(self, grad_hidden: torch.Tensor, gradients: PassGradients) -> None:
        """Adds the gradient of every trainable weight; a model whose backbone is frozen has none."""
        if self._rows.requires_grad:
            torch.autograd.backward(self._rows, grad_hidden)
