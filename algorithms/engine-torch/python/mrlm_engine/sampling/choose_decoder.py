"""Which decoder a model is sampled with."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch

from mrlm_engine.decoding.protocol import Decoder
from mrlm_engine.decoding.transformers_decoder import ModuleDecoder
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.decoder_shape import llama_shape
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.rebuild import empty_module


def choose_decoder(held: LoadedModel, weights: Mapping[str, torch.Tensor]) -> Decoder:
    """The fused decoder where the architecture is known to it, the transformers module itself elsewhere.

    Both hold `weights` (those of `inference_weights`) as tensors of their own, an adapter's factors beside its layers.
    """
    shape = llama_shape(held.config)
    if shape is not None:
        rotary = copy.deepcopy(held.module.model.rotary_emb)
        return LlamaDecoder(shape, weights, rotary, float32_head=held.float32_head)
    return module_decoder(held, weights)


def module_decoder(held: LoadedModel, weights: Mapping[str, torch.Tensor]) -> ModuleDecoder:
    """The decoder that works for every architecture."""
    module = empty_module(held.config, held.dtype, held.lora if held.has_adapter else None).to(held.device)
    decoder = ModuleDecoder(module, float32_head=held.float32_head)
    decoder.load(weights)
    return decoder
