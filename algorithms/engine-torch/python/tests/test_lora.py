"""Low-rank adapters: training, the reference without the adapter, the sampler and exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference, reference_gradients, reference_outputs
from client import Array, EngineCallError, Outputs, group
from rounding import tolerance
from running import RunningEngine
from test_numerics import PROMPTS, recomputed, sample
from tiny import GPT2, LLAMA, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.llama.backbone import LlamaBackbone

pytest.importorskip("peft", reason="peft is not installed (mrlm engine setup --extra lora)")

UNITS = [group([3, 4, 5], [[6, 7], [8, 9, 10]]), group([11, 12], [[13, 14, 15]])]
LORA = pb.Lora(rank=4, alpha=8.0, seed=5)


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"])}


@pytest.fixture
def adapted(engine: RunningEngine) -> RunningEngine:
    engine.create(lora=LORA)
    reference = pb.CreateModelRequest(model_id="reference", role=pb.ROLE_REFERENCE, adapter_off="policy")
    engine.client.unary("CreateModel", reference)
    return engine


def train(engine: RunningEngine, steps: int = 3) -> None:
    for _ in range(steps):
        engine.client.forward_backward(UNITS, loss)
        engine.client.step(learning_rate=0.05)


def test_only_the_adapter_learns(adapted: RunningEngine) -> None:
    model = adapted.state.registry.get("policy")
    adapted.client.forward_backward(UNITS, lambda _, o: {"logprob": np.ones_like(o["logprob"])})
    found = accumulated(adapted.state.trainable_model("policy"))
    expected = reference_gradients(model, UNITS, lambda _, outputs: outputs["logprob"].sum())
    assert largest_difference(found, expected) < 1e-5
    assert all(".lora_" in name for name in found)
    before = {name: p.clone() for name, p in model.named_parameters() if not p.requires_grad}
    adapted.client.step()
    assert all(torch.equal(before[name], p) for name, p in model.named_parameters() if not p.requires_grad)


def test_a_trainable_copy_learns_its_own_adapter(adapted: RunningEngine) -> None:
    train(adapted, 1)
    request = pb.CreateModelRequest(model_id="critic", role=pb.ROLE_CRITIC, copy_of="policy", trainable=True)
    adapted.client.unary("CreateModel", request)
    before = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "critic")] == before
    adapted.client.forward_backward(UNITS, lambda _, o: {"value": o["value"] - 1}, model_id="critic", value=True)
    assert all(
        ".lora_" in name or name.startswith("value_head.")
        for name in accumulated(adapted.state.trainable_model("critic"))
    )
    adapted.client.step("critic")
    for _ in range(2):
        adapted.client.forward_backward(UNITS, lambda _, o: {"value": o["value"] - 1}, model_id="critic", value=True)
        adapted.client.step("critic")
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "critic")] != before
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)] == before


def test_a_frozen_copy_has_only_an_adapter_of_its_own(adapted: RunningEngine, tmp_path: Path) -> None:
    train(adapted, 1)
    for version in (1, 2):
        copy = pb.CreateModelRequest(model_id=f"past-{version}", role=pb.ROLE_POLICY, copy_of="policy")
        adapted.client.unary("CreateModel", copy)
    before = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    train(adapted, 1)

    def bits(model: str) -> list[bytes]:
        return [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, model)]

    present = bits("policy")
    assert bits("past-1") == bits("past-2") == before != present
    adapted.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    sizes = [path.stat().st_size for path in sorted((tmp_path / "c").glob("models/*/weights.safetensors"))]
    assert len(sizes) == 3
    assert max(sizes[1:]) < sizes[0] / 2
    train(adapted, 1)
    for model in ("past-1", "past-2"):
        adapted.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id=model)
    adapted.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c"))
    assert bits("past-1") == bits("past-2") == before
    assert bits("policy") == present
    models = [adapted.state.registry.get(model) for model in ("policy", "past-1", "past-2")]
    shared = [{p.data_ptr() for name, p in m.named_parameters() if ".lora_" not in name} for m in models]
    assert shared[0] == shared[1] == shared[2]
    train(adapted, 1)
    assert bits("past-1") == before


def test_numerics_26_the_reference_is_the_policy_without_its_adapter(adapted: RunningEngine) -> None:
    before = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "reference")] == before
    train(adapted)
    trained = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert trained != before
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "reference")] == before


def test_numerics_26_a_pass_of_the_reference_that_fails_leaves_the_adapter_on(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This applies to passes of transformers only: the hot path does not switch the adapter.
    module = engine.create(lora=LORA, dtype="bfloat16").module
    request = pb.CreateModelRequest(model_id="reference", role=pb.ROLE_REFERENCE, adapter_off="policy")
    engine.client.unary("CreateModel", request)
    train(engine)
    trained = [o["logprob"].tobytes() for o in engine.client.forward(UNITS)]
    assert trained != [o["logprob"].tobytes() for o in engine.client.forward(UNITS, "reference")]
    monkeypatch.setattr(type(module.model), "forward", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("broken")))
    with pytest.raises(EngineCallError, match="broken"):
        engine.client.forward(UNITS, "reference")
    monkeypatch.undo()
    assert [o["logprob"].tobytes() for o in engine.client.forward(UNITS)] == trained


@pytest.mark.parametrize("targets", [[], ["q_proj", "down_proj"], ["o_proj", "up_proj"]])
@pytest.mark.parametrize("config", [QWEN2, LLAMA], ids=["qwen2", "llama"])
def test_the_hot_path_merges_the_adapter_exactly(
    engine: RunningEngine, config: dict[str, Any], targets: list[str]
) -> None:
    lora = pb.Lora(rank=3, alpha=8.0, seed=5, target_modules=targets)
    model = engine.create(config=config, lora=lora, value_head=True)
    trainable = engine.state.trainable_model("policy")
    assert isinstance(trainable.backbone, LlamaBackbone)

    def both(_: int, outputs: Outputs) -> dict[str, Array]:
        return {"logprob": -np.exp(0.5 * outputs["logprob"]), "value": outputs["value"] - 1}

    # A value head on the backbone that the adapter adapts (PPO with a shared critic) learns with it.
    for _ in range(3):
        engine.client.forward_backward(UNITS, both, logprob=True, value=True)
        engine.client.step(learning_rate=0.05)
    engine.client.forward_backward(UNITS, both, logprob=True, value=True)
    found = accumulated(trainable)
    expected = reference_gradients(
        model, UNITS, lambda _, o: (-2 * (0.5 * o["logprob"]).exp()).sum() + 0.5 * (o["value"] - 1).square().sum()
    )
    assert largest_difference(found, expected) < 1e-4
    assert all(".lora_" in name or name.startswith("value_head.") for name in found)
    assert {name for name in found if ".lora_" in name} == {n for n, p in model.named_parameters() if ".lora_" in n}
    ours = engine.client.forward(UNITS, logprob=True, value=True)
    for unit, outputs in zip(UNITS, ours, strict=True):
        theirs = reference_outputs(model, unit)
        for name in ("logprob", "value"):
            np.testing.assert_allclose(outputs[name], theirs[name].detach().numpy(), atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_numerics_49_the_adapter_reaches_the_sampler(engine: RunningEngine, dtype: str) -> None:
    engine.create(lora=LORA, dtype=dtype)
    sample(engine.client, PROMPTS, 1.0)
    train(engine)
    for agrees in (False, True):
        found = sample(engine.client, PROMPTS, 1.0)
        sampled = np.concatenate([np.frombuffer(found[i].logprobs, "<f4") for i in range(len(PROMPTS))])
        difference = np.abs(recomputed(engine.client, PROMPTS, found, 1.0) - sampled).max()
        assert bool(difference < tolerance(dtype)) is agrees
        engine.client.numbered("Publish", pb.PublishRequest, model_id="policy")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_checkpointing_changes_no_gradient_of_an_adapter(engine: RunningEngine, dtype: str) -> None:
    # Below the first adapter nothing requires a gradient: what is computed again must know that its results do.
    found = []
    for model_id, checkpointing in (("whole", False), ("checkpointed", True)):
        engine.create(model_id, lora=LORA, dtype=dtype, gradient_checkpointing=checkpointing)
        for _ in range(2):
            engine.client.forward_backward(UNITS, loss, model_id=model_id)
            engine.client.step(model_id, learning_rate=0.05)
        engine.client.forward_backward(UNITS, loss, model_id=model_id)
        found.append(accumulated(engine.state.trainable_model(model_id)))
    assert largest_difference(found[1], found[0]) < 1e-6
    assert any(float(gradient.abs().max()) > 0 for name, gradient in found[1].items() if ".lora_A" in name)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_numerics_52_an_adapter_goes_on_bit_by_bit(engine: RunningEngine, dtype: str, tmp_path: Path) -> None:
    engine.create(lora=LORA, dtype=dtype)
    train(engine, 2)
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    second = RunningEngine()
    second.client.call = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c")).last_call
    for running in (engine, second):
        train(running, 2)
    ours, theirs = (dict(e.state.registry.get("policy").named_parameters()) for e in (engine, second))
    second.stop()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert {p.dtype for name, p in ours.items() if ".lora_" in name} == {torch.float32}


def test_layers_of_gpt2_are_adapted_though_they_are_no_linear(engine: RunningEngine, tmp_path: Path) -> None:
    model = engine.create(config=GPT2, lora=LORA)
    adapted = {name.split(".lora_")[0].rsplit(".", 1)[-1] for name, p in model.named_parameters() if p.requires_grad}
    assert adapted == {"c_attn", "c_proj", "c_fc"}
    before = engine.client.forward(UNITS)[0]["logprob"].copy()
    train(engine)
    trained = engine.client.forward(UNITS)[0]["logprob"]
    assert np.abs(trained - before).max() > 1e-3
    directory = str(tmp_path / "hf")
    engine.client.numbered("Export", pb.ExportRequest, model_id="policy", directory=directory, merge_adapter=True)
    merged = pb.CreateModelRequest(model_id="merged", role=pb.ROLE_REFERENCE, directory=directory, dtype="float32")
    engine.client.unary("CreateModel", merged)
    np.testing.assert_allclose(engine.client.forward(UNITS, "merged")[0]["logprob"], trained, atol=1e-4)


def test_a_model_that_others_read_stays(adapted: RunningEngine) -> None:
    with pytest.raises(EngineCallError, match="reference"):
        adapted.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id="policy")
    for model_id in ("reference", "policy"):
        adapted.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id=model_id)
