"""Layers that receive an adapter, and targets that are refused because they would have no effect."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from client import EngineCallError
from running import RunningEngine
from tiny import GPT2, LLAMA, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

pytest.importorskip("peft", reason="peft is not installed (mrlm engine setup --extra lora)")

MAMBA: dict[str, Any] = {
    "model_type": "mamba",
    "vocab_size": 41,
    "hidden_size": 32,
    "state_size": 8,
    "num_hidden_layers": 2,
    "eos_token_id": 1,
    "pad_token_id": 0,
}


def refusal(engine: RunningEngine, config: dict[str, Any], lora: pb.Lora, **fields: Any) -> EngineCallError:
    with pytest.raises(EngineCallError) as caught:
        engine.create("other", config=config, lora=lora, **fields)
    assert caught.value.code == "OPTIONS_INVALID"
    assert [model.model_id for model in engine.client.unary("Describe", pb.DescribeRequest()).models] == []
    return caught.value


def test_target_modules_are_those_named(engine: RunningEngine) -> None:
    targets = ["q_proj", "model.layers.1.mlp.down_proj"]
    model = engine.create(config=QWEN2, lora=pb.Lora(rank=2, alpha=2.0, target_modules=targets))
    assert {name.split(".lora_")[0] for name, p in model.named_parameters() if p.requires_grad} == {
        "model.layers.0.self_attn.q_proj",
        "model.layers.1.self_attn.q_proj",
        "model.layers.1.mlp.down_proj",
    }


@pytest.mark.parametrize(
    ("config", "targets", "reason"),
    [
        (QWEN2, ["lm_head"], "is the language-model head"),
        (LLAMA, ["q_proj", "lm_head"], "is the language-model head"),
        (GPT2, ["lm_head"], "is the language-model head"),
        (QWEN2, ["embed_tokens"], "is the embedding of the input tokens"),
        (GPT2, ["wpe"], "which is a Embedding and not a linear layer"),
        (QWEN2, ["input_layernorm"], "which is a Qwen2RMSNorm and not a linear layer"),
        (QWEN2, ["mlp"], "which is a Qwen2MLP and not a linear layer"),
        (QWEN2, ["q_proj", "qproj"], "'qproj' names no layer"),
        (QWEN2, ["value_head"], "'value_head' names no layer"),
        (QWEN2, ["proj"], "'proj' names no layer"),
    ],
)
def test_m8_a_target_that_would_learn_nothing_is_refused(
    engine: RunningEngine, config: dict[str, Any], targets: list[str], reason: str
) -> None:
    refused = refusal(engine, config, pb.Lora(rank=2, alpha=2.0, target_modules=targets), value_head=True)
    assert reason in refused.detail.message
    assert "Layers that can have an adapter: " in refused.detail.hint
    estimate = pb.EstimateMemoryRequest(
        models=[pb.CreateModelRequest(model_id="other", lora=pb.Lora(rank=2, alpha=2.0, target_modules=["lm_head"]))]
    )
    estimate.models[0].random.config_json = '{"model_type": "llama", "hidden_size": 32, "num_attention_heads": 2}'
    # The refusal comes before the weights are read.
    with pytest.raises(EngineCallError, match="is the language-model head"):
        engine.client.unary("EstimateMemory", estimate)


def test_m8_a_layer_whose_weight_is_read_past_its_adapter_is_refused(engine: RunningEngine) -> None:
    # Mamba multiplies by dt_proj's weight itself.
    refused = refusal(engine, MAMBA, pb.Lora(rank=2, alpha=2.0, target_modules=["in_proj", "dt_proj"]))
    assert "reads the weights of dt_proj past their adapters" in refused.detail.message
    model = engine.create("other", config=MAMBA, lora=pb.Lora(rank=2, alpha=2.0, target_modules=["in_proj", "x_proj"]))
    assert any(p.requires_grad for p in model.module.parameters())


def test_settings_without_an_effect_are_refused(engine: RunningEngine) -> None:
    for lora in (pb.Lora(rank=0, alpha=2.0), pb.Lora(rank=2), pb.Lora(rank=2, alpha=2.0, dropout=0.1)):
        refusal(engine, QWEN2, lora)


def test_every_linear_layer_but_the_head_without_targets(engine: RunningEngine) -> None:
    model = engine.create(config=LLAMA, lora=pb.Lora(rank=2, alpha=2.0))
    linear = {name for name, layer in model.module.named_modules() if type(layer) is torch.nn.Linear}
    adapted = {name.split(".lora_")[0] for name, p in model.named_parameters() if p.requires_grad}
    bases = {name.removesuffix(".base_layer") for name in linear if name.endswith(".base_layer")}
    assert adapted == bases
    assert {name for name in linear if ".lora_" not in name and ".base_layer" not in name} == {"lm_head"}
