"""Creation of models: sources, errors before any work, and settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from tiny import GPT2, QWEN2, create_model, create_request

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.memory.shape import model_shape
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.info import model_info
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.weights import inference_weights

CPU = Placement(torch.device("cpu"))


def code_of(request: pb.CreateModelRequest, registry: ModelRegistry) -> str:
    with pytest.raises(EngineError) as caught:
        create_model(request, registry, CPU)
    assert caught.value.hint
    return caught.value.code


def test_random_model_depends_on_configuration_and_seed_alone(registry: ModelRegistry) -> None:
    torch.manual_seed(1)
    first = create_model(create_request("a", json.dumps(QWEN2), seed=3), registry, CPU)
    torch.manual_seed(2)
    second = create_model(create_request("b", json.dumps(QWEN2), seed=3), registry, CPU)
    other = create_model(create_request("c", json.dumps(QWEN2), seed=4), registry, CPU)
    for name, weight in inference_weights(first).items():
        assert torch.equal(weight, inference_weights(second)[name])
    assert not torch.equal(first.head_weight, other.head_weight)


def test_creating_a_model_leaves_the_global_random_state_alone(registry: ModelRegistry) -> None:
    before = torch.random.get_rng_state()
    create_model(create_request("a", json.dumps(QWEN2)), registry, CPU)
    assert torch.equal(before, torch.random.get_rng_state())


def test_directory_source_is_what_was_saved(policy: LoadedModel, registry: ModelRegistry, tmp_path: Path) -> None:
    policy.module.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "tool_use.jinja").write_bytes(b"t")
    request = pb.CreateModelRequest(model_id="again", role=pb.ROLE_REFERENCE, directory=str(tmp_path))
    again = create_model(request, registry, CPU)
    assert again.tokenizer_files == {"tokenizer.json": b"{}", "additional_chat_templates/tool_use.jinja": b"t"}
    assert not any(p.requires_grad for p in again.module.parameters())
    for name, weight in inference_weights(policy).items():
        assert torch.equal(weight, inference_weights(again)[name])


def test_info_counts_tied_weights_once(policy: LoadedModel) -> None:
    info = model_info(policy)
    assert info.parameters == info.trainable_parameters == sum(p.numel() for p in policy.module.parameters())
    assert (info.vocab_size, info.max_positions, list(info.eos_token_ids), info.pad_token_id) == (41, 128, [1], 0)
    assert json.loads(info.config_json)["model_type"] == "qwen2"


def test_frozen_copy_keeps_its_weights_when_the_original_changes(policy: LoadedModel, registry: ModelRegistry) -> None:
    request = pb.CreateModelRequest(model_id="reference", role=pb.ROLE_REFERENCE, copy_of="policy")
    reference = create_model(request, registry, CPU)
    before = reference.head_weight.clone()
    with torch.no_grad():
        policy.head_weight.add_(1.0)
    assert torch.equal(reference.head_weight, before)
    assert not any(p.requires_grad for p in reference.module.parameters())


def test_numerics_44_45_a_trainable_copy_begins_as_its_original_and_goes_its_own_way(
    policy: LoadedModel, registry: ModelRegistry
) -> None:
    policy.step, policy.micro_batch_tokens = 7, 99
    request = pb.CreateModelRequest(model_id="critic", role=pb.ROLE_CRITIC, copy_of="policy", trainable=True)
    critic = create_model(request, registry, CPU)
    assert (critic.step, critic.version, critic.micro_batch_tokens) == (0, 0, 99)
    assert critic.value_head is not None
    assert torch.equal(critic.value_head(torch.randn(5, 32)), torch.zeros(5))
    assert all(parameter.requires_grad for _, parameter in critic.named_parameters())
    before = policy.head_weight.clone()
    assert torch.equal(critic.head_weight, before)
    with torch.no_grad():
        critic.head_weight.add_(1.0)
    assert torch.equal(policy.head_weight, before)


def test_critic_has_a_zero_value_head(registry: ModelRegistry) -> None:
    critic = create_model(create_request("critic", json.dumps(QWEN2), role=pb.ROLE_CRITIC), registry, CPU)
    assert critic.value_head is not None
    assert torch.equal(critic.value_head(torch.randn(5, 32)), torch.zeros(5))


def test_a_frozen_reward_model_has_the_value_head_of_its_directory(
    policy: LoadedModel, registry: ModelRegistry, tmp_path: Path
) -> None:
    policy.module.save_pretrained(tmp_path)
    request = pb.CreateModelRequest(model_id="reward", role=pb.ROLE_REWARD, directory=str(tmp_path))
    assert code_of(request, registry) == "VALUE_HEAD_MISSING"
    head = {"weight": torch.arange(32, dtype=torch.float32), "bias": torch.tensor([0.5])}
    save_file(head, tmp_path / "value_head.safetensors")
    reward = create_model(request, registry, CPU)
    assert reward.value_head is not None
    assert torch.equal(reward.value_head(torch.ones(1, 32)), torch.tensor([31 * 16 + 0.5]))


def test_errors_name_their_cause(policy: LoadedModel, registry: ModelRegistry, tmp_path: Path) -> None:
    def directory(path: Path) -> pb.CreateModelRequest:
        return pb.CreateModelRequest(model_id="m", directory=str(path))

    assert code_of(directory(tmp_path / "none"), registry) == "MODEL_DIRECTORY_MISSING"
    assert code_of(directory(tmp_path), registry) == "MODEL_DIRECTORY_INVALID"
    (tmp_path / "config.json").write_text("{")
    assert code_of(directory(tmp_path), registry) == "MODEL_DIRECTORY_INVALID"
    policy.module.save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert code_of(directory(tmp_path), registry) == "MODEL_DIRECTORY_INVALID"
    assert code_of(create_request("policy", json.dumps(QWEN2)), registry) == "OPTIONS_INVALID"
    assert code_of(create_request("", json.dumps(QWEN2)), registry) == "OPTIONS_INVALID"
    assert code_of(pb.CreateModelRequest(model_id="m"), registry) == "MESSAGE_INVALID"
    assert code_of(create_request("m", "{}"), registry) == "OPTIONS_INVALID"
    assert code_of(create_request("m", json.dumps({"model_type": "no-such-model"})), registry) == "OPTIONS_INVALID"
    assert code_of(create_request("m", json.dumps(QWEN2), dtype="int3"), registry) == "OPTIONS_INVALID"
    for heads in ({"num_attention_heads": 3}, {"num_key_value_heads": 3}, {"num_key_value_heads": 0}):
        assert code_of(create_request("m", json.dumps({**QWEN2, **heads})), registry) == "OPTIONS_INVALID"
    assert code_of(pb.CreateModelRequest(model_id="m", copy_of="polcy"), registry) == "MODEL_NOT_FOUND"
    assert code_of(pb.CreateModelRequest(model_id="m", adapter_off="policy"), registry) == "LORA_UNAVAILABLE"
    headed = pb.CreateModelRequest(model_id="m", copy_of="policy", value_head=True)
    assert code_of(headed, registry) == "VALUE_HEAD_MISSING"
    adapted = pb.CreateModelRequest(model_id="m", copy_of="policy", trainable=True, lora=pb.Lora(rank=2, alpha=2))
    assert code_of(adapted, registry) == "OPTIONS_INVALID"
    assert [model.model_id for model in registry.all()] == ["policy"]


def test_weights_that_are_pickles_are_not_read(policy: LoadedModel, registry: ModelRegistry, tmp_path: Path) -> None:
    policy.module.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    torch.save(policy.module.state_dict(), tmp_path / "pytorch_model.bin")
    request = pb.CreateModelRequest(model_id="m", directory=str(tmp_path))
    assert code_of(request, registry) == "MODEL_DIRECTORY_INVALID"


def test_an_unknown_model_type_is_answered_with_the_nearest_and_not_with_all(registry: ModelRegistry) -> None:
    with pytest.raises(EngineError, match="Did you mean 'qwen2', ") as caught:
        create_model(create_request("m", json.dumps({**QWEN2, "model_type": "qwen22"})), registry, CPU)
    assert len(str(caught.value)) < 400


def test_an_unknown_model_is_answered_with_the_nearest(policy: LoadedModel, registry: ModelRegistry) -> None:
    with pytest.raises(EngineError, match="Did you mean 'policy'"):
        registry.get("polcy")


def test_weights_of_another_shape_are_refused(policy: LoadedModel, registry: ModelRegistry, tmp_path: Path) -> None:
    policy.module.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "intermediate_size": 40}))
    assert code_of(pb.CreateModelRequest(model_id="m", directory=str(tmp_path)), registry) == "MODEL_DIRECTORY_INVALID"


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ({"model_type": "bloom", "vocab_size": 41, "hidden_size": 32, "n_layer": 1, "n_head": 2}, 0),
        ({"model_type": "mpt", "vocab_size": 41, "d_model": 32, "n_layers": 1, "n_heads": 2, "max_seq_len": 24}, 24),
        ({**GPT2, "n_positions": 16}, 16),
    ],
    ids=["bloom", "mpt", "gpt2"],
)
def test_m5_the_limit_of_positions_is_that_of_the_architecture(
    config: dict[str, Any], limit: int, registry: ModelRegistry
) -> None:
    model = create_model(create_request("policy", json.dumps({**config, "eos_token_id": 1})), registry, CPU)
    assert (model_info(model).max_positions, model_shape(model.module).positions) == (limit, limit)
    longest = torch.arange(limit or 4096)[None] % 41
    with torch.no_grad():
        assert model.module(longest).logits.shape[1] == longest.shape[1]
        if limit:
            with pytest.raises((RuntimeError, IndexError)):
                model.module(torch.arange(limit + 1)[None] % 41)
