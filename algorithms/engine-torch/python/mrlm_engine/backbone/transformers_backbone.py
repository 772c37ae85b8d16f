"""The trunk of any architecture: the transformers module's own forward pass and torch's autograd."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from mrlm_engine.batching.padded_layout import PaddedLayout, padded_layout
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.gradients.sink import GradientSink
from mrlm_engine.models.loaded_model import LoadedModel


class TransformersTrunk:
    """Runs `module.base_model` on padded rows; no key-value cache, no dropout."""

    # Autograd adds to the parameters themselves.
    has_lanes = False

    def __init__(self, held: LoadedModel) -> None:
        self.held = held
        if held.gradient_checkpointing and held.trainable:
            enable = getattr(held.module, "activation_checkpointing_enable", held.module.gradient_checkpointing_enable)
            enable()
            # transformers recomputes only layers in training mode. What is inside of them stays in evaluation mode, in
            # which it draws no random numbers: some experts and routers do, whatever their configuration.
            for part in held.module.modules():
                part.training = bool(getattr(part, "gradient_checkpointing", False))

    def computed_tokens(self, unit: TokenUnit, final_value: bool) -> int:
        """Tokens of the unit's own rectangle."""
        return len(unit.sequences) * max(sequence.needed(final_value) for sequence in unit.sequences)

    def graph_bytes_per_token(self) -> int:
        """About 17 numbers of the hidden size a layer (Korthikanti et al., arXiv 2205.05198); one when checkpointed."""
        config = self.held.config
        layers, hidden = int(getattr(config, "num_hidden_layers", 1)), int(getattr(config, "hidden_size", 1))
        kept = 1 if self.held.gradient_checkpointing else 17
        return kept * layers * hidden * self.held.dtype.itemsize

    def finish_gradients(self) -> None:
        """Nothing to do: autograd adds to `.grad` itself."""

    def drop_gradients(self) -> None:
        """Nothing to do, likewise."""

    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> TransformersRun:
        """Pads a micro-batch and computes it."""
        return TransformersRun(self, padded_layout(units, final_value, self.held.device), keep_graph)


class TransformersRun:
    """One forward pass of a TransformersTrunk."""

    def __init__(self, trunk: TransformersTrunk, layout: PaddedLayout, keep_graph: bool) -> None:
        held = trunk.held
        positions = torch.arange(layout.tokens.shape[1], device=held.device)[None]
        with torch.set_grad_enabled(keep_graph), held.active_adapter():
            states = held.module.base_model(
                input_ids=layout.tokens,
                attention_mask=layout.mask,
                position_ids=positions.expand_as(layout.tokens),
                use_cache=False,
            ).last_hidden_state
            self._rows = states.flatten(0, 1).index_select(0, layout.outputs.rows)
        self.hidden = self._rows.detach()
        self.rows = layout.outputs
        self.computed_tokens = layout.computed_tokens
        self.graph_bytes = layout.computed_tokens * trunk.graph_bytes_per_token() if keep_graph else 0

    def backward(self, grad_hidden: torch.Tensor, gradients: GradientSink) -> None:
        """Adds the gradient of every trainable weight; a model whose trunk is frozen has none."""
        if self._rows.requires_grad:
            torch.autograd.backward(self._rows, grad_hidden)
