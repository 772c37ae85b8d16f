"""Choice of a module's layout by a probe: the one with the fewest tokens that computes what the padded one does."""

from __future__ import annotations

import logging

import numpy as np
import torch

from mrlm_engine.backbone.packed_attention import PACKED, can_pack, has_windows, kernel_takes
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.batching.packed_layout import PackedLayout, PackedRows
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
    expected, _ = _states(backbone, units)
    reason = "its layers are not all causal attention"
    # Weights that are divided later are still on the CPU.
    device = model.device if model.mesh is None else torch.device(model.mesh.device_type)
    if can_pack(model.config):
        implementation = model.config._attn_implementation
        model.module.set_attn_implementation(PACKED)
        backbone.layout = Layout.PACKED
        try:
            states, packed = _states(backbone, units)
            difference = _difference(states, expected)
            if difference > tolerance:
                reason = f"its hidden states differ by {difference:.2g} (limit {tolerance:.2g})"
            elif packed is not None and kernel_takes(packed, device, model.dtype):
                return Layout.PACKED
            else:
                reason = "the kernel of this GPU does not take its heads"
        except Exception as error:
            if is_out_of_memory(error):
                raise
            reason = f"its packed pass failed ({error})"
        model.module.set_attn_implementation(implementation)
    log.warning("model %s: sequences are padded and not packed, because %s", model.model_id, reason)
    if not _has_flash(device, model.dtype):
        return Layout.MASKED
    backbone.layout = Layout.PADDED
    return Layout.PADDED if _difference(_states(backbone, units)[0], expected) <= tolerance else Layout.MASKED


def _has_flash(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether attention without a mask has a kernel that keeps no scores, also for grouped keys."""
    if device.type == "cpu":
        return True
    is_old = device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0)
    return dtype != torch.float32 and not is_old


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


def _states(backbone: TransformersBackbone, units: list[TokenUnit]) -> tuple[torch.Tensor, PackedRows | None]:
    """Returns the states of all outputs, and the row that the layers have read where it is packed."""
    run = backbone.forward(units, False, False)
    packed = None
    if isinstance(run.layout, PackedLayout):
        packed = run.layout.packed
        windows = packed.windows
        if not windows or (has_windows(backbone.model.config) and not any(windows)):
            raise LookupError("its layers do not pass their windows to attention functions")
    return run.hidden[run.rows.output_row].float(), packed


def _difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).abs().max() / expected.abs().max().clamp_(min=1.0))
