"""Choice of the decoder that a model is sampled with. A probe compares it with the transformers module."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping

import torch

from mrlm_engine.decoding.protocol import Decoder
from mrlm_engine.decoding.transformers_decoder import ModuleDecoder
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.probe import Probe
from mrlm_engine.llama.shape import llama_shape
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.rebuild import empty_module

log = logging.getLogger(__name__)


def choose_decoder(model: LoadedModel, weights: Mapping[str, torch.Tensor]) -> Decoder:
    """Returns the hand-written decoder for the architectures that it supports, else the transformers module itself.

    Both hold `weights` (those of `inference_weights`) as tensors of their own, an adapter's factors beside its layers.
    The caller holds `model.lock`. A collective where the weights are divided among the ranks.
    """
    return hand_written_decoder(model, weights) or module_decoder(model, weights)


def hand_written_decoder(model: LoadedModel, weights: Mapping[str, torch.Tensor]) -> LlamaDecoder | None:
    """Returns the decoder of the Llama family; None for another architecture or a model that fails the probe."""
    shape = llama_shape(model.module)
    if shape is None:
        return None
    rotary = copy.deepcopy(model.module.model.rotary_emb)
    decoder = LlamaDecoder(shape, weights, rotary, float32_head=model.float32_head)
    probe = Probe(model)
    difference = probe.decoder_difference(decoder)
    if difference <= probe.tolerance:
        return decoder
    log.warning(
        "model %s: logits of the hand-written decoder differ from transformers by %.2g (limit %.2g), "
        "so it is sampled with transformers, which is slower",
        model.model_id,
        difference,
        probe.tolerance,
    )
    return None


def module_decoder(model: LoadedModel, weights: Mapping[str, torch.Tensor]) -> ModuleDecoder:
    """Returns the decoder that works for every architecture."""
    module = empty_module(model.config, model.dtype, model.lora if model.has_adapter else None).to(model.device)
    decoder = ModuleDecoder(module, float32_head=model.float32_head)
    decoder.load(weights)
    return decoder
