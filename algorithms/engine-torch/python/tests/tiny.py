"""Tiny configurations of several architectures, and requests that create models from them."""

from __future__ import annotations

from typing import Any

from mrlm_engine import models
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement
from mrlm_engine.service.codec.models import model_request

QWEN2: dict[str, Any] = {
    "model_type": "qwen2",
    "vocab_size": 41,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": 1,
    "pad_token_id": 0,
    # Larger than usual, so that every part of so small a model shows in its outputs.
    "initializer_range": 0.2,
}
LLAMA: dict[str, Any] = {**QWEN2, "model_type": "llama", "tie_word_embeddings": False}
GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "vocab_size": 41,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 128,
    "bos_token_id": None,
    "eos_token_id": 1,
    "initializer_range": 0.2,
}


def create_request(model_id: str, config_json: str, **fields: Any) -> pb.CreateModelRequest:
    """Returns a trainable policy from a configuration and seed 0, unless `fields` differ."""
    fields = {"role": pb.ROLE_POLICY, "trainable": True, "dtype": "float32", **fields}
    seed = fields.pop("seed", 0)
    source = pb.RandomSource(config_json=config_json, seed=seed)
    return pb.CreateModelRequest(model_id=model_id, random=source, **fields)


def create_model(request: pb.CreateModelRequest, registry: ModelRegistry, placement: Placement) -> LoadedModel:
    """Returns the model of a CreateModel call."""
    return models.create_model(model_request(request), registry, placement)
