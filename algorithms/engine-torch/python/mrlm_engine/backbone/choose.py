"""Choice of a model's backbone. A probe compares it with the transformers module."""

from __future__ import annotations

import logging

import torch

from mrlm_engine.backbone.choose_layout import choose_layout
from mrlm_engine.backbone.packed_attention import is_packed
from mrlm_engine.backbone.protocol import Backbone
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.compute.context import ContextGroup
from mrlm_engine.errors import EngineError
from mrlm_engine.llama.backbone import LlamaBackbone
from mrlm_engine.llama.probe import Probe, tolerance
from mrlm_engine.llama.shape import backbone_shape
from mrlm_engine.models.layers import first_layers
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.shard import is_divided

# Largest relative difference of two passes on a GPU, where the order of sums can differ from pass to pass.
REPEATABILITY = {torch.float32: 2e-4, torch.bfloat16: 6e-2, torch.float16: 1e-2}

log = logging.getLogger(__name__)


@torch.no_grad()
def choose_backbone(model: LoadedModel) -> Backbone:
    """Returns the hand-written backbone on CPU for the architectures that it supports, else the transformers module
    itself.
    """
    if is_divided(model):
        # The probe ran before the weights were divided, or on the model that owns them.
        divided = TransformersBackbone(model)
        if is_packed(model.config):
            divided.layout = Layout.PACKED
        return divided
    with model.lock:
        probe = Probe(model)
        refuse_unused_adapters(model, probe)
        needs_module = model.device.type != "cpu" or model.mesh is not None
        shape = None if needs_module else backbone_shape(model.module)
        if shape is not None:
            hand_written = LlamaBackbone(model, shape)
            difference = probe_difference(probe, hand_written)
            if difference <= probe.tolerance:
                return hand_written
            log.warning(
                "model %s: logits of the hand-written training passes differ from transformers by %.2g (limit %.2g), "
                "so it is trained with transformers, which is slower",
                model.model_id,
                difference,
                probe.tolerance,
            )
        backbone = TransformersBackbone(model)
        difference = probe_difference(probe, backbone)
        if difference > probe.tolerance:
            raise EngineError(
                "OPTIONS_INVALID",
                f"Logits of '{model.config.model_type}' differ by {difference:.2g} from its head on its last hidden "
                "state.",
                "The engine computes log-probabilities from hidden states in chunks; use another architecture.",
            )
        refuse_randomness(model)
        if model.mesh is not None and model.mesh.tokens is not None:
            # Rows must be packed, also by a resumed run whose experts are close to each other.
            with first_layers(model.module):
                backbone.layout = choose_layout(backbone, tolerance(torch.float32, 1))
            return backbone
        backbone.layout = choose_layout(backbone, probe.tolerance)
        return backbone


def share_rows(model: LoadedModel, backbone: Backbone, context: ContextGroup) -> None:
    """Lets the ranks of `context` compute parts of each row. Refuses a model whose rows cannot be divided."""
    if not isinstance(backbone, TransformersBackbone) or backbone.layout is not Layout.PACKED:
        raise undivided_rows(model.model_id, model.config.model_type, context.count)
    backbone.context = context


def undivided_rows(model_id: str, model_type: str, ranks: int) -> EngineError:
    """Returns the error for a model whose rows `ranks` ranks cannot share."""
    return EngineError(
        "OPTIONS_INVALID",
        f"'{model_id}' ({model_type}) has layers whose sequences {ranks} ranks cannot share: they are not all causal "
        "attention that the engine packs.",
        "Set engine.parallel.context to 1.",
    )


def probe_difference(probe: Probe, backbone: Backbone) -> float:
    """Returns the largest relative difference between a backbone's logits and the module's own."""
    run = backbone.forward([probe.unit], True, False)
    return probe.backbone_difference(run.hidden, run.rows)


def refuse_unused_adapters(model: LoadedModel, probe: Probe) -> None:
    """Refuses a model that reads weights past their adapters."""
    if probe.unused_adapters:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{model.config.model_type}' reads the weights of {', '.join(probe.unused_adapters)} past their adapters, "
            "which would learn nothing.",
            "Name the other linear layers in target_modules.",
        )


def refuse_randomness(model: LoadedModel) -> None:
    """Refuses a model that computes different outputs each time, in the mode that it trains in."""
    tokens = torch.arange(min(12, model.max_positions or 12), device=model.device)[None] % model.vocab_size
    with model.active_adapter():
        first, second = (model.module(input_ids=tokens, use_cache=False).logits.float() for _ in range(2))
    difference = float((first - second).abs().max() / second.abs().max().clamp_(min=1.0))
    if difference > (0.0 if model.device.type == "cpu" else REPEATABILITY[model.dtype]):
        raise EngineError(
            "OPTIONS_INVALID",
            f"Two passes of '{model.config.model_type}' over the same tokens differ by {difference:.2g}: it draws "
            "random numbers, so the ratio of an update to what was sampled would not begin at 1.",
            "Switch gradient_checkpointing off, or use another architecture.",
        )
