"""Tiny models of the architectures that the sampler is tested with."""

from __future__ import annotations

import json
from typing import Any

import torch
from tiny import GPT2, LLAMA, QWEN2, create_model, create_request

from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement

QWEN3: dict[str, Any] = {**QWEN2, "model_type": "qwen3", "head_dim": 16}
# Attention over the last 6 tokens only: every sequence of the tests outgrows it.
MISTRAL: dict[str, Any] = {**LLAMA, "model_type": "mistral", "sliding_window": 6}
# Frequencies of the rotary embedding are scaled.
SCALED: dict[str, Any] = {
    **LLAMA,
    "rope_parameters": {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
}
# Two of eight experts for each token.
MIXTURE: dict[str, Any] = {
    **QWEN2,
    "model_type": "qwen3_moe",
    "head_dim": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "decoder_sparse_step": 1,
    "norm_topk_prob": True,
    "mlp_only_layers": [],
}
FUSED = {"qwen2": QWEN2, "llama": LLAMA, "qwen3": QWEN3, "llama-scaled": SCALED}
BY_MODULE = {"gpt2": GPT2, "mistral-sliding": MISTRAL, "mixture": MIXTURE, "qwen2-module": QWEN2}


def make(config: dict[str, Any], seed: int = 0, **fields: Any) -> LoadedModel:
    """Returns a loaded model whose norms and biases are random too, so that a wrong one shows."""
    model = create_model(
        create_request("policy", json.dumps(config), seed=seed, **fields),
        ModelRegistry(),
        Placement(torch.device("cpu")),
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.module.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return model


def disturb(model: LoadedModel, size: float = 0.05) -> None:
    """Changes every weight, as an optimizer step would."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * size)
