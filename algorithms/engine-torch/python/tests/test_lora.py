"""Low-rank adapters: what learns, what the reference sees, what the sampler and an export get."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference, reference_gradients
from client import Array, EngineCallError, Outputs, group
from running import RunningEngine
from test_numerics import PROMPTS, recomputed, sample
from tiny import QWEN2
from transformers import AutoModelForCausalLM

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

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
    held = adapted.state.registry.get("policy")
    adapted.client.forward_backward(UNITS, lambda _, o: {"logprob": np.ones_like(o["logprob"])})
    found = accumulated(adapted.state.learner("policy"))
    expected = reference_gradients(held, UNITS, lambda _, outputs: outputs["logprob"].sum())
    assert largest_difference(found, expected) < 1e-5
    assert all(".lora_" in name for name in found)
    before = {name: p.clone() for name, p in held.named_parameters() if not p.requires_grad}
    adapted.client.step()
    assert all(torch.equal(before[name], p) for name, p in held.named_parameters() if not p.requires_grad)


def test_a_trainable_copy_learns_its_own_adapter(adapted: RunningEngine) -> None:
    train(adapted, 1)
    request = pb.CreateModelRequest(model_id="critic", role=pb.ROLE_CRITIC, copy_of="policy", trainable=True)
    adapted.client.unary("CreateModel", request)
    before = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "critic")] == before
    adapted.client.forward_backward(UNITS, lambda _, o: {"value": o["value"] - 1}, model_id="critic", value=True)
    assert all(
        ".lora_" in name or name.startswith("value_head.") for name in accumulated(adapted.state.learner("critic"))
    )
    adapted.client.step("critic")
    for _ in range(2):
        adapted.client.forward_backward(UNITS, lambda _, o: {"value": o["value"] - 1}, model_id="critic", value=True)
        adapted.client.step("critic")
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "critic")] != before
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)] == before


def test_numerics_26_the_reference_is_the_policy_without_its_adapter(
    adapted: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "reference")] == before
    train(adapted)
    trained = [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)]
    assert trained != before
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS, "reference")] == before
    # A pass of the reference that fails leaves the adapter on.
    module = adapted.state.registry.get("policy").module
    monkeypatch.setattr(type(module.model), "forward", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("broken")))
    with pytest.raises(EngineCallError, match="broken"):
        adapted.client.forward(UNITS, "reference")
    monkeypatch.undo()
    assert [o["logprob"].tobytes() for o in adapted.client.forward(UNITS)] == trained


def test_numerics_49_the_adapter_reaches_the_sampler(adapted: RunningEngine) -> None:
    sample(adapted.client, PROMPTS, 1.0)
    train(adapted)
    adapted.client.numbered("Publish", pb.PublishRequest, model_id="policy")
    found = sample(adapted.client, PROMPTS, 1.0)
    sampled = np.concatenate([np.frombuffer(found[i].logprobs, "<f4") for i in range(len(PROMPTS))])
    assert np.abs(recomputed(adapted.client, PROMPTS, found, 1.0) - sampled).max() < 1e-4


@pytest.mark.parametrize("merge", [True, False])
def test_export_merged_and_beside(adapted: RunningEngine, merge: bool, tmp_path: Path) -> None:
    train(adapted)
    held = adapted.state.registry.get("policy")
    before = {name: p.clone() for name, p in held.named_parameters()}
    adapted.client.numbered(
        "Export", pb.ExportRequest, model_id="policy", directory=str(tmp_path / "hf"), merge_adapter=merge
    )
    assert all(torch.equal(before[name], p) for name, p in held.named_parameters())
    module = AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
    ids = torch.arange(2, 12)[None]
    with torch.no_grad():
        expected = held.module(ids).logits
        assert float((module.eval()(ids).logits - expected).abs().max()) < 1e-4


def test_numerics_52_an_adapter_goes_on_bit_by_bit(adapted: RunningEngine, tmp_path: Path) -> None:
    train(adapted, 2)
    adapted.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    second = RunningEngine()
    second.client.call = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c")).last_call
    for engine in (adapted, second):
        train(engine, 2)
    for model_id in ("policy", "reference"):
        ours, theirs = (e.client.forward(UNITS, model_id)[0]["logprob"].tobytes() for e in (adapted, second))
        assert ours == theirs
    second.stop()


def test_a_model_that_others_read_stays(adapted: RunningEngine) -> None:
    with pytest.raises(EngineCallError, match="reference"):
        adapted.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id="policy")
    for model_id in ("reference", "policy"):
        adapted.client.numbered("ReleaseModel", pb.ReleaseModelRequest, model_id=model_id)


def test_target_modules_are_those_named(engine: RunningEngine) -> None:
    held = engine.create(config=QWEN2, lora=pb.Lora(rank=2, alpha=2.0, target_modules=["q_proj"]))
    assert {name.split(".lora_")[0].rsplit(".", 1)[-1] for name, p in held.named_parameters() if p.requires_grad} == {
        "q_proj"
    }
    with pytest.raises(EngineCallError) as caught:
        engine.create("other", lora=pb.Lora(rank=2, alpha=2.0, target_modules=["nothing"]))
    assert caught.value.code == "OPTIONS_INVALID"
    for settings in (pb.Lora(rank=0), pb.Lora(rank=2, dropout=0.1)):
        with pytest.raises(EngineCallError) as caught:
            engine.create("other", lora=settings)
        assert caught.value.code == "OPTIONS_INVALID"
