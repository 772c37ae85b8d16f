"""The model that learns and samples is the one that its directory and configuration describe, in every pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from client import group
from safetensors.torch import load_file, save_file
from sampling.architectures import MIXTURE
from sampling.calls import add, full_forward, logprobs, sample_wave, tokens
from tiny import GPT2, LLAMA, QWEN2, create_model, create_request
from transformers import AutoConfig, AutoModelForCausalLM

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.placement import Placement
from mrlm_engine.sampling import Sampler
from mrlm_engine.service.codec.units import decode_units
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel

CPU = Placement(torch.device("cpu"))
SMALL = {key: QWEN2[key] for key in ("vocab_size", "hidden_size", "intermediate_size", "initializer_range")}
SMALL |= {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
SMALL |= {"bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0}
PHIMOE = {
    **SMALL,
    "model_type": "phimoe",
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "input_jitter_noise": 0.3,
    "attention_dropout": 0.3,
    "hidden_dropout": 0.3,
    "router_jitter_noise": 0.01,
}
MIXTRAL = {
    **SMALL,
    "model_type": "mixtral",
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "router_jitter_noise": 0.5,
    "attention_dropout": 0.3,
}
FALCON = {**SMALL, "model_type": "falcon", "hidden_dropout": 0.4, "attention_dropout": 0.4}
GPT_NEO = {
    **SMALL,
    "model_type": "gpt_neo",
    "num_layers": 2,
    "num_heads": 4,
    "attention_types": [[["global", "local"], 1]],
    "resid_dropout": 0.4,
    "embed_dropout": 0.4,
    "attention_dropout": 0.4,
}
GPTJ = {
    "model_type": "gptj",
    "vocab_size": 41,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
    "rotary_dim": 8,
    **dict.fromkeys(("attn_pdrop", "resid_pdrop", "embd_pdrop"), 0.4),
}
PERSIMMON = {**SMALL, "model_type": "persimmon", "hidden_dropout": 0.4, "attention_dropout": 0.4}
DBRX = {
    "model_type": "dbrx",
    "d_model": 32,
    "n_heads": 4,
    "n_layers": 2,
    "max_seq_len": 64,
    "vocab_size": 41,
    "resid_pdrop": 0.4,
    "emb_pdrop": 0.4,
    "attn_config": {"attn_pdrop": 0.4, "kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10000.0},
    "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2, "moe_jitter_eps": 0.4},
}
RANDOM = {
    "gpt2": {**GPT2, "attn_pdrop": 0.4, "resid_pdrop": 0.4, "embd_pdrop": 0.4},
    "phimoe": PHIMOE,
    "mixtral": MIXTRAL,
    "falcon": FALCON,
    "gpt_neo": GPT_NEO,
    "gptj": GPTJ,
    "persimmon": PERSIMMON,
    "dbrx": DBRX,
    "qwen3_moe": {**MIXTURE, "attention_dropout": 0.3},
}
SELECTION = Selection(logprob=True, entropy=False, value=False, final_value=False)


def make(config: dict[str, Any], **fields: Any) -> LoadedModel:
    return create_model(create_request("policy", json.dumps(config), **fields), ModelRegistry(), CPU)


@pytest.mark.parametrize("name", RANDOM)
def test_m9_a_model_with_dropout_and_jitter_trains_without(name: str) -> None:
    model = make(RANDOM[name], gradient_checkpointing=True)
    trainable = TrainableModel(model)
    (unit,) = decode_units([group([3, 4, 5], [[6, 7, 8, 9], [10, 11, 12, 13]])], model, linear=False)
    micro_batch = MicroBatch(trainable, [unit], SELECTION, keep_graph=True)
    found = micro_batch.outputs()[0]
    again = MicroBatch(trainable, [unit], SELECTION, keep_graph=True).outputs()[0]
    # The policy of the sampler: the same module in evaluation mode.
    model.module.eval()
    expected = MicroBatch(TrainableModel(model), [unit], SELECTION, keep_graph=False).outputs()[0]
    assert found.logprob is not None
    assert again.logprob is not None
    assert expected.logprob is not None
    assert np.array_equal(found.logprob, again.logprob)
    assert np.allclose(found.logprob, expected.logprob, atol=1e-5)


def test_m9_layers_are_recomputed_and_what_is_inside_them_draws_nothing() -> None:
    model = make(PHIMOE, gradient_checkpointing=True)
    TrainableModel(model)
    layers = model.module.model.layers
    assert all(layer.gradient_checkpointing and layer.training for layer in layers)
    assert not any(part.training for layer in layers for part in layer.children())
    # A threshold of its router in every mode, in spite of its name.
    assert model.config.router_jitter_noise == 0.01
    assert (model.config.input_jitter_noise, model.config.attention_dropout) == (0.0, 0.0)


def test_m9_a_model_that_still_draws_random_numbers_is_refused() -> None:
    model = make(GPT2)
    forward = model.module.transformer.h[0].mlp.forward

    def noisy(hidden: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = forward(hidden)
        return result * (1 + 0.01 * torch.rand(()))

    model.module.transformer.h[0].mlp.forward = noisy
    with pytest.raises(EngineError, match=r"draws random|differ"):
        TrainableModel(model)


GEMMA2 = {
    **SMALL,
    "model_type": "gemma2",
    "head_dim": 8,
    "query_pre_attn_scalar": 8,
    "attn_logit_softcapping": 0.5,
    "final_logit_softcapping": 5.0,
    "sliding_window": 6,
}


def module_of(config: dict[str, Any], attention: str) -> Any:
    fields = {key: value for key, value in config.items() if key != "model_type"}
    described = AutoConfig.for_model(config["model_type"], **fields)
    return AutoModelForCausalLM.from_config(described, attn_implementation=attention).eval()


@pytest.mark.parametrize("name", ["gemma2", "vaultgemma"])
def test_m10_the_soft_cap_of_attention_is_computed(name: str, tmp_path: Path) -> None:
    config = {**GEMMA2, "model_type": name}
    model = make(config)
    ids = torch.arange(2, 30)[None]
    logits = {}
    for attention in ("eager", "sdpa"):
        module = module_of(config, attention)
        module.load_state_dict(model.module.state_dict())
        logits[attention] = module(ids).logits
    assert (logits["eager"] - logits["sdpa"]).abs().max() > 1e-3
    assert torch.allclose(model.module(ids).logits, logits["eager"], atol=1e-5)
    request = add(1, [5, 6, 7], max_tokens=20)
    finish = sample_wave(Sampler(model, True), [request])[1]
    assert (logprobs(finish) - full_forward(model, request, tokens(finish))).abs().max() < 1e-4
    # Read back from a directory it is the same model.
    model.module.save_pretrained(tmp_path)
    again = create_model(pb.CreateModelRequest(model_id="again", directory=str(tmp_path)), ModelRegistry(), CPU)
    assert torch.equal(again.module(ids).logits, model.module(ids).logits)


def test_m10_models_that_sdpa_computes_whole_keep_it() -> None:
    for config in (QWEN2, LLAMA, GPT2, {**GEMMA2, "attn_logit_softcapping": None}):
        assert make(config).config._attn_implementation == "sdpa"
    sinks = {**SMALL, "model_type": "gpt_oss", "head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1}
    assert make(sinks).config._attn_implementation == "eager"


def directory_with(tmp_path: Path, **config: Any) -> pb.CreateModelRequest:
    """Returns a model directory whose config.json has more or other fields."""
    make(QWEN2).module.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **config}))
    return pb.CreateModelRequest(model_id="m", directory=str(tmp_path))


@pytest.mark.parametrize(
    "fields",
    [
        {"attn_implementation": "someone/kernel"},
        {"_attn_implementation": "someone/kernel@v1:forward"},
        {"_attn_implementation_internal": "flash_attention_2"},
        {"attn_implementation": {"": "sdpa", "text_config": "someone/kernel"}},
        {"text_config": {"attn_implementation": "paged|someone/kernel"}},
        {"experts_implementation": "someone/kernel"},
        {"attn_implementation": 7},
    ],
    ids=str,
)
def test_s9_a_model_names_no_kernel_to_download(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        create_model(directory_with(tmp_path, **fields), ModelRegistry(), CPU)
    assert caught.value.code == "MODEL_DIRECTORY_INVALID"
    assert "downloaded" in caught.value.message
    with pytest.raises(EngineError) as caught:
        make({**QWEN2, **fields})
    assert caught.value.code == "OPTIONS_INVALID"


@pytest.mark.parametrize("name", ["eager", "sdpa", None])
def test_s9_local_implementations_are_taken(tmp_path: Path, name: str | None) -> None:
    model = create_model(directory_with(tmp_path, attn_implementation=name), ModelRegistry(), CPU)
    assert model.config._attn_implementation in ("eager", "sdpa")


def test_m11_weights_without_a_place_are_refused(tmp_path: Path) -> None:
    request = directory_with(tmp_path)
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    save_file({**weights, "model.layers.0.self_attn.o_proj.bias": torch.ones(32)}, file, {"format": "pt"})
    with pytest.raises(EngineError, match=r"no place for: \['model.layers.0.self_attn.o_proj.bias'\]") as caught:
        create_model(request, ModelRegistry(), CPU)
    assert caught.value.code == "MODEL_DIRECTORY_INVALID"
    # Left in old files of the Llama family; it is computed, not learnt.
    save_file({**weights, "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)}, file, {"format": "pt"})
    assert create_model(request, ModelRegistry(), CPU).model_id == "m"
