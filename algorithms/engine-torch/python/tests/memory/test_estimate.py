"""The estimate against numbers worked out by hand, and against torch's own account of what was allocated."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from client import sequence
from tiny import GPT2, QWEN2, create_request

from memory.account import Account
from mrlm_engine.device import choose_device
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.memory.budget import choose_budget
from mrlm_engine.memory.estimate import estimate, state_lines, total
from mrlm_engine.memory.plan import Line, ModelPlan, Setting
from mrlm_engine.memory.shape import ModelShape, adapter_parameters, empty_model, model_shape
from mrlm_engine.models.from_config import parse_config
from mrlm_engine.service import models
from mrlm_engine.service.codec.models import model_request
from mrlm_engine.service.forward_backward import forward_backward
from mrlm_engine.service.memory import Target, estimate_memory, plan_model
from mrlm_engine.service.state import EngineState
from mrlm_engine.settings import EngineSettings
from mrlm_engine.training.optimizer import AdamWParameters

# Qwen2.5-0.5B's shape. Its parameters: 151,936 x 896 (tied) + 24 layers of 896 x (896 + 2 x 128) + 1,152 + 896 x 896
# + 3 x 896 x 4,864 + 2 x 896, and 896.
HALF_BILLION: dict[str, Any] = {
    "model_type": "qwen2",
    "vocab_size": 151_936,
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
}
PARAMETERS = 494_032_768
POLICY = frozenset({"policy"})
SMALL: dict[str, Any] = {
    **QWEN2,
    "vocab_size": 2000,
    "hidden_size": 128,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "max_position_embeddings": 512,
}


def shape(config: dict[str, Any]) -> ModelShape:
    return model_shape(empty_model(parse_config(json.dumps(config)), torch.bfloat16))


def test_the_shape_of_a_known_model() -> None:
    module = empty_model(parse_config(json.dumps(HALF_BILLION)), torch.bfloat16)
    found = model_shape(module)
    assert (found.parameters, found.layers, found.hidden, found.intermediate) == (PARAMETERS, 24, 896, 4864)
    assert (found.query_width, found.key_width, found.vocabulary, found.positions) == (896, 128, 151_936, 32_768)
    # Rank 16: query and output 896 + 896, key and value 896 + 128, gate, up and down 896 + 4,864, in each of 24 layers.
    assert adapter_parameters(module, 16, []) == 16 * 24 * (2 * 1792 + 2 * 1024 + 3 * 5760)
    assert adapter_parameters(module, 8, ["q_proj"]) == 8 * 24 * 1792


def test_golden_numbers_of_a_gpu_run() -> None:
    plan = ModelPlan("policy", shape(HALF_BILLION), dtype_bytes=2, trainable_parameters=PARAMETERS)
    setting = Setting("cuda", 2048, concurrency=64, sampled_models=POLICY, sampler_rows=1024, sampler_bytes=40 << 30)
    lines = {line.part: line.bytes for line in estimate([plan], setting, 16_384)}
    assert lines["weights"] == 988_065_536
    assert lines["gradients"] == lines["master copies"] == 1_976_131_072
    assert lines["optimizer"] == 3_952_262_144
    assert lines["sampler's weights"] == 988_065_536
    # 64 sequences x 2,048 tokens x 24 layers x 128 wide x keys and values x 2 bytes.
    assert lines["sampler's cache"] == 64 * 2048 * 24 * 128 * 2 * 2 == 1_610_612_736
    # Less than the graph, in whose place they come.
    assert "gradients of a pass" not in lines
    # 8 x 896 + 4 x 4,864 + 4 x 896 + 2 x 128 = 30,464 numbers a layer; 35.7 GiB wait alone, above the limit of 2 GiB.
    per_layer = 30_464 * 2
    assert lines["activations"] == 16_384 * (24 * per_layer + 896 * 2)
    # A block of rows and of the vocabulary, more than a layer.
    assert lines["logits"] == 8192 * 16_384 * 16 > 16_384 * per_layer
    assert "working memory" not in lines
    kept = dataclasses.replace(plan, gradient_checkpointing=True)
    light = {line.part: line.bytes for line in estimate([kept], setting, 16_384)}
    # Half a billion numbers of layers' inputs, and two micro-batches of them.
    graph = 16_384 * (24 * 896 * 2 + 896 * 2)
    assert light["activations"] == (2 << 30) // graph * graph
    short = {line.part: line.bytes for line in estimate([plan], setting, 300)}
    assert short["gradients of a pass"] == 988_065_536 - short["activations"] // 3


def test_what_divided_and_frozen_models_and_adapters_take() -> None:
    small = shape(HALF_BILLION)
    full = ModelPlan("policy", small, 2, trainable_parameters=PARAMETERS)
    divided = {line.part: line.bytes for line in state_lines(full, Setting("cuda", 128, ranks=4, ranks_of_weights=4))}
    # Divided weights are kept in float32: no master copies. The embedding is gathered whole.
    assert divided == {
        "weights": PARAMETERS * 4 // 4,
        "gathered layer": 151_936 * 896 * 2,
        "gradients": PARAMETERS * 4 // 4,
        "optimizer": PARAMETERS * 8 // 4,
    }
    frozen = ModelPlan("reference", small, 2)
    assert {line.part: line.bytes for line in state_lines(frozen, Setting("cuda", 128))} == {"weights": PARAMETERS * 2}
    assert state_lines(dataclasses.replace(frozen, shares_weights=True), Setting("cuda", 128)) == []
    # The factors of an adapter are in float32, and whole on every rank.
    adapted = dataclasses.replace(full, trainable_parameters=1_000_000, adapter_parameters=1_000_000)
    for ranks in (1, 4):
        setting = Setting("cuda", 128, ranks=ranks, ranks_of_weights=ranks)
        parts = {line.part: line.bytes for line in state_lines(adapted, setting) if line.part != "gathered layer"}
        state = {"adapter": 4_000_000, "gradients": 4_000_000, "optimizer": 8_000_000}
        assert parts == {"weights": PARAMETERS * 2 // ranks, **state}


def test_a_frozen_copy_of_an_adapted_model_is_its_adapter() -> None:
    copy = ModelPlan("past-policy-1", shape(HALF_BILLION), 2, 0, adapter_parameters=1000, shares_base=True)
    assert [(line.part, line.bytes) for line in state_lines(copy, Setting("cuda", 128))] == [("adapter", 4000)]


def test_every_sampled_model_has_a_sampler() -> None:
    both = [ModelPlan(name, shape(HALF_BILLION), 2) for name in ("doctor", "patient", "reference")]
    setting = Setting(
        "cuda", 2048, concurrency=64, sampled_models=frozenset({"doctor", "patient"}), sampler_bytes=40 << 30
    )
    caches = {line.model: line.bytes for line in estimate(both, setting, 2048) if line.part == "sampler's cache"}
    assert caches == {"doctor": 1_610_612_736, "patient": 1_610_612_736}


def test_the_budget_is_the_largest_that_fits() -> None:
    plan = ModelPlan("policy", shape(HALF_BILLION), 2, trainable_parameters=PARAMETERS)
    setting = Setting("cuda", 2048, concurrency=64, sampled_models=POLICY)
    everything = choose_budget([plan], setting, 16_384, 0)
    assert everything.tokens == 16_384
    enough = choose_budget([plan], setting, 16_384, everything.wanted_bytes)
    assert (enough.tokens, enough.wanted_bytes) == (16_384, total(enough.lines))
    lowered = choose_budget([plan], setting, 16_384, everything.wanted_bytes - (8 << 30))
    assert 2048 <= lowered.tokens < 16_384
    assert total(lowered.lines) <= everything.wanted_bytes - (8 << 30)
    assert total(estimate([plan], setting, lowered.tokens + 1)) > everything.wanted_bytes - (8 << 30)
    # Not even one sequence fits: the result has the largest length that fits.
    short = choose_budget([plan], setting, 16_384, everything.least_bytes - 1)
    assert (short.tokens, short.least_tokens) == (0, 2048)
    assert 1024 < short.fitting_sequence < 2048
    assert choose_budget([plan], setting, 16_384, 1 << 30).fitting_sequence == 0


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "hot path": (SMALL, {}),
    "hot path, checkpointed": (SMALL, {"gradient_checkpointing": True}),
    "bfloat16": (SMALL, {"dtype": "bfloat16", "float32_head": True}),
    "bfloat16, checkpointed": (SMALL, {"dtype": "bfloat16", "float32_head": True, "gradient_checkpointing": True}),
    "adapter, bfloat16": (SMALL, {"dtype": "bfloat16", "lora": pb.Lora(rank=8, alpha=16.0)}),
    "gpt2": ({**GPT2, "n_embd": 128, "n_positions": 512, "vocab_size": 2000}, {}),
}


def test_assumed_devices_need_no_weights_and_share_those_of_a_model(tmp_path: Path) -> None:
    state = EngineState(EngineSettings(), choose_device("cpu", "deterministic", 2))
    (tmp_path / "config.json").write_text(json.dumps(HALF_BILLION))
    request = pb.EstimateMemoryRequest(
        models=[pb.CreateModelRequest(model_id="policy", role=pb.ROLE_POLICY, directory=str(tmp_path), trainable=True)],
        sampled_models=["policy"],
        concurrency=64,
        sequence_tokens=2048,
    )
    with pytest.raises(EngineError, match="holds no"):
        estimate_memory(state, request)

    def lines(**fields: Any) -> dict[str, int]:
        request.assumed_devices.CopyFrom(pb.AssumedDevices(name="h100", bytes=80 * 10**9, **fields))
        found = estimate_memory(state, request)
        assert (found.available_bytes, found.available_from) == (72 * 10**9, "CUDA, h100 assumed")
        return {line.part: line.bytes for line in found.lines}

    # bfloat16 with master copies, as a CUDA device takes it; the sampler's cache is that of a GPU.
    alone = lines(ranks=1)
    assert (alone["weights"], alone["master copies"], alone["gradients"]) == tuple(n * PARAMETERS for n in (2, 4, 4))
    assert alone["sampler's cache"] == 64 * 2048 * 2 * 24 * 128 * 2
    assert lines(ranks=4) == {**alone, "sampler's cache": alone["sampler's cache"] // 4}
    shared = lines(ranks=4, shards_weights=True)
    assert (shared["weights"], shared["gradients"], shared["optimizer"]) == tuple(
        n * PARAMETERS // 4 for n in (4, 4, 8)
    )
    assert "master copies" not in shared


@pytest.mark.slow
def test_torch_allocates_about_what_is_estimated() -> None:
    peaks = {}
    for name, (config, fields) in CASES.items():
        if "lora" in fields and importlib.util.find_spec("peft") is None:
            continue
        peaks[name], lines = measure(config, fields)
        assert 0.4 * total(lines) < peaks[name] < 1.1 * total(lines), (name, peaks[name], total(lines), lines)
    # Checkpointing takes less, and not only by the estimate.
    assert peaks["hot path, checkpointed"] < 0.7 * peaks["hot path"]
    assert peaks["bfloat16, checkpointed"] < 0.7 * peaks["bfloat16"]


def measure(config: dict[str, Any], fields: dict[str, Any]) -> tuple[int, list[Line]]:
    """Returns the bytes that two training steps had at most, and the estimate."""
    length, rows = 257, 8
    tokens = (length - 1) * rows
    draw = np.random.default_rng(0)
    mask, gradients = [0] + [1] * (length - 1), [1.0] * (length - 1)
    made = [sequence(draw.integers(2, 2000, length).tolist(), mask, grad_logprob=gradients) for _ in range(rows)]
    units = [pb.Unit(sequences=[one]) for one in made]
    state = EngineState(EngineSettings(), choose_device("cpu", "deterministic", 2))
    create = create_request("policy", json.dumps(config), micro_batch_tokens=tokens, **fields)
    # Gradients that are known beforehand: one graph at a time.
    plan = plan_model(state, Target.of(state, pb.EstimateMemoryRequest()), model_request(create), {})
    lines = estimate([plan], Setting("cpu", length, waiting_graphs=1), tokens)
    opening = pb.ForwardBackwardOpen(model_id="policy", outputs=pb.OutputSelection(logprob=True), normalizer=1.0)
    opening.loss = pb.LOSS_KIND_LINEAR
    with Account() as account:
        models.create(state, create)
        for _ in range(2):
            list(forward_backward(state, iter([pb.ForwardBackwardRequest(open=opening, units=units, end=True)])))
            state.trainable_model("policy").step(AdamWParameters(1e-4, 0.9, 0.99, 1e-8, 0.0), 1.0)
    return account.peak, lines
