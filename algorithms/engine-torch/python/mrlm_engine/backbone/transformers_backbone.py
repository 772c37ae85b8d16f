"""Backbone of any architecture: the transformers module's own forward pass and torch's autograd."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import torch

from mrlm_engine.backbone.packed_attention import packed_inputs
from mrlm_engine.batching.packed_layout import PackedLayout, packed_layout
from mrlm_engine.batching.padded_layout import PaddedLayout, padded_layout
from mrlm_engine.batching.prefix_layout import packed_size
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.compute.context import ContextGroup
from mrlm_engine.gradients.sink import PassGradients
from mrlm_engine.memory.shape import model_shape, module_numbers
from mrlm_engine.models.loaded_model import LoadedModel


class Layout(enum.Enum):
    """Layout of a micro-batch."""

    # One row without padding. The module's attention is `packed_attention`.
    PACKED = "packed"
    # Rows that are padded on the right, where causal layers do not read it.
    PADDED = "padded"
    # The same with a mask of the padding, for which each layer keeps a table of all pairs of tokens.
    MASKED = "masked"


class TransformersBackbone:
    """Runs `module.base_model` on packed or padded rows; no key-value cache, no dropout."""

    # Autograd adds to the parameters themselves.
    has_lanes = False

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        # Correct for every module. `choose_layout` finds out whether less will do.
        self.layout = Layout.MASKED
        # Ranks that have parts of each row; the layout is PACKED then.
        self.context: ContextGroup | None = None
        self._shape = model_shape(model.module)
        # Numbers that a layer keeps for a token, and for a key and value.
        self._token_numbers = module_numbers(self._shape, model.dtype.itemsize)
        self._key_numbers = 2 * self._shape.key_width
        if model.gradient_checkpointing and model.trainable:
            enable = getattr(
                model.module, "activation_checkpointing_enable", model.module.gradient_checkpointing_enable
            )
            enable()
            # transformers recomputes only layers in training mode. Their parts stay in evaluation mode, in
            # which it draws no random numbers: some experts and routers do, whatever their configuration.
            for part in model.module.modules():
                part.training = bool(getattr(part, "gradient_checkpointing", False))

    def token_cost(self, unit: TokenUnit, final_value: bool) -> int:
        """Returns the tokens of the unit with padding to the longest, or packed, with a common prefix once.

        The keys and values of a common prefix are kept for each of its sequences. They count as the tokens that take
        their memory. A prefix for each sequence would take more, since a token takes above twice the memory of its key
        and value. Ranks that share the row have a part of it each.
        """
        if self.layout is Layout.PACKED:
            tokens, keys = packed_size(unit, final_value)
            tokens += -(-(keys - tokens) * self._key_numbers // self._token_numbers)
            return tokens if self.context is None else -(-tokens // self.context.count)
        return len(unit.sequences) * max(sequence.needed(final_value) for sequence in unit.sequences)

    def graph_bytes(self, layout: PackedLayout | PaddedLayout) -> int:
        """Returns the approximate bytes that a graph keeps; with checkpointing, of the layers' inputs alone."""
        tokens = layout.tokens.numel()
        if self.model.gradient_checkpointing:
            numbers = tokens * self._shape.hidden
        else:
            gathered = (layout.keys - layout.computed_tokens) if isinstance(layout, PackedLayout) else 0
            numbers = tokens * self._token_numbers + gathered * self._key_numbers
        return numbers * self._shape.layers * self.model.dtype.itemsize

    def finish_gradients(self, gradients: Sequence[PassGradients]) -> None:
        """Does nothing: autograd adds to `.grad` itself."""

    def forward(self, units: Sequence[TokenUnit], final_value: bool, keep_graph: bool) -> TransformersRun:
        """Lays a micro-batch out and computes it."""
        device = self.model.device
        if self.layout is Layout.PACKED:
            packed = packed_layout(units, final_value, device, self.context)
            inputs = {"position_ids": packed.positions, **packed_inputs(packed.packed, device)}
            return TransformersRun(self, packed, inputs, keep_graph)
        padded = padded_layout(units, final_value, device)
        positions = torch.arange(padded.tokens.shape[1], device=device)[None].expand_as(padded.tokens)
        mask = padded.mask if self.layout is Layout.MASKED else None
        return TransformersRun(self, padded, {"position_ids": positions, "attention_mask": mask}, keep_graph)


class TransformersRun:
    """One forward pass of a TransformersBackbone."""

    def __init__(
        self,
        backbone: TransformersBackbone,
        layout: PackedLayout | PaddedLayout,
        inputs: dict[str, Any],
        keep_graph: bool,
    ) -> None:
        model = backbone.model
        with torch.set_grad_enabled(keep_graph), model.active_adapter():
            states = model.module.base_model(input_ids=layout.tokens, use_cache=False, **inputs).last_hidden_state
            self._rows = states.flatten(0, 1).index_select(0, layout.outputs.rows)
        self.hidden = self._rows.detach()
        self.layout = layout
        self.rows = layout.outputs
        self.computed_tokens = layout.computed_tokens
        self.graph_bytes = backbone.graph_bytes(layout) if keep_graph else 0

    def backward(self, grad_hidden: torch.Tensor, gradients: PassGradients) -> None:
        """Adds the gradient of every trainable weight; a model whose backbone is frozen has none."""
        if self._rows.requires_grad:
            torch.autograd.backward(self._rows, grad_hidden)
