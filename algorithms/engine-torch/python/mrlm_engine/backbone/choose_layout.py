"""Choice of a module's layout by a probe: the one with the fewest tokens that computes what the padded one does."""

from __future__ import annotations

import logging

import numpy as np
import torch

from mrlm_engine.backbone.packed_attention import PACKED, can_pack, has_windows
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.batching.packed_layout import PackedLayout
from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.compute.out_of_memory import is_out_of_memory
from mrlm_engine.models.loaded_model import LoadedModel

# Tokens of the probe's sequences: two with a common prefix, then two alone.
LENGTHS = (25, 18, 3, 31)
PREFIX = 12

log = logging.getLogger(__name__)


@torch.no_grad()
def choose_layout(backbone: TransformersBackbone, tolerance: float) -> Layout:
    """Returns a layout whose hidden states differ from those of padded rows with a mask by `tolerance` at most.

    The caller holds the model's lock.
    """
    model = backbone.model
    units = probe_units(model)
    backbone.layout = Layout.MASKED
    expected = _states(backbone, units)
    reason = "its layers are not all causal attention"
    if can_pack(model.config):
        implementation = model.config._attn_implementation
        model.module.set_attn_implementation(PACKED)
        backbone.layout = Layout.PACKED
        try:
            difference = _difference(_states(backbone, units), expected)
            if difference <= tolerance:
                return Layout.PACKED
            reason = f"its hidden states differ by {difference:.2g} (limit {tolerance:.2g})"
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            if is_out_of_memory(error):
                raise
            reason = f"its packed pass failed ({error})"
        model.module.set_attn_implementation(implementation)
    log.warning("model %s: sequences are padded and not packed, because %s", model.model_id, reason)
    backbone.layout = Layout.PADDED
    return Layout.PADDED if _difference(_states(backbone, units), expected) <= tolerance else Layout.MASKED


def probe_units(model: LoadedModel) -> list[TokenUnit]:
    """Returns sequences of several lengths, all of whose states are outputs: padding or a neighbour would show."""
    longest = model.max_positions or max(LENGTHS)
    sequences = []
    for number, length in enumerate(min(length, longest) for length in LENGTHS):
        # The first two have a common prefix.
        tokens = (np.arange(length) * 7 + 3 + np.where(np.arange(length) < PREFIX, number // 2, number) * 5) % (
            model.vocab_size
        )
        sequences.append(TokenSequence(tokens.astype(np.int32), np.arange(1, length)))
    return [TokenUnit(0, tuple(sequences[:2])), *(TokenUnit(i, (one,)) for i, one in enumerate(sequences[2:], 1))]


def _states(backbone: TransformersBackbone, units: list[TokenUnit]) -> torch.Tensor:
    run = backbone.forward(units, False, False)
    if isinstance(run.layout, PackedLayout):
        windows = run.layout.packed.windows
        if not windows or (has_windows(backbone.model.config) and not any(windows)):
            raise LookupError("its layers do not pass their windows to attention functions")
    states: torch.Tensor = run.hidden[run.rows.output_row].float()
    return states


def _difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).abs().max() / expected.abs().max().clamp_(min=1.0))
