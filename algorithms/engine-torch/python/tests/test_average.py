"""Exponential averages of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from client import EngineCallError
from running import RunningEngine
from test_checkpoint import train
from tiny import GPT2, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb


@pytest.fixture
def second() -> Any:
    running = RunningEngine()
    yield running
    running.stop()


def weights(engine: RunningEngine, model_id: str) -> dict[str, torch.Tensor]:
    named = engine.state.registry.get(model_id).module.named_parameters()
    return {name: tensor.detach().clone() for name, tensor in named}


def average(engine: RunningEngine, decay: float, model_id: str = "reference", of: str = "policy") -> None:
    engine.client.numbered("Average", pb.AverageRequest, model_id=model_id, of=of, decay=decay)


def copy(engine: RunningEngine, model_id: str = "reference", of: str = "policy") -> None:
    engine.client.numbered("CreateModel", pb.CreateModelRequest, model_id=model_id, copy_of=of)


def test_an_average_is_the_sum_of_its_closed_form(engine: RunningEngine) -> None:
    engine.create(config=QWEN2)
    copy(engine)
    expected = {name: tensor.double() for name, tensor in weights(engine, "policy").items()}
    for _ in range(4):
        train(engine, 1)
        average(engine, 0.75)
        for name, tensor in weights(engine, "policy").items():
            expected[name] = 0.75 * expected[name] + 0.25 * tensor.double()
    for name, tensor in weights(engine, "reference").items():
        torch.testing.assert_close(tensor.double(), expected[name], rtol=0, atol=5e-7)
    assert any(
        not torch.equal(tensor, weights(engine, "policy")[name])
        for name, tensor in weights(engine, "reference").items()
    )
    average(engine, 0.0)
    for name, tensor in weights(engine, "reference").items():
        assert torch.equal(tensor, weights(engine, "policy")[name])


def test_an_average_in_a_lower_format_does_not_stand_still(engine: RunningEngine) -> None:
    engine.create(config=QWEN2, dtype="bfloat16")
    copy(engine)
    before = weights(engine, "reference")
    policy = engine.state.registry.get("policy").module
    with torch.no_grad():
        for tensor in policy.parameters():
            tensor.mul_(1.5)
    # Each single step is below half of the last place of bfloat16, 2^-9 of a weight.
    for _ in range(700):
        average(engine, 0.999)
    for name, tensor in weights(engine, "reference").items():
        expected = before[name].double() * (1.5 - 0.5 * 0.999**700)
        torch.testing.assert_close(tensor.double(), expected, rtol=2**-7, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
def test_a_loaded_average_goes_on_bit_by_bit(
    engine: RunningEngine, second: RunningEngine, config: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    engine.create(config=config, dtype=dtype)
    copy(engine)
    train(engine, 2)
    average(engine, 0.99)
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    second.client.call = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c")).last_call
    for each in (engine, second):
        for _ in range(3):
            train(each, 1)
            average(each, 0.99)
    for name, tensor in weights(engine, "reference").items():
        assert torch.equal(tensor, weights(second, "reference")[name])
    ours, theirs = (each.state.registry.get("reference").averages for each in (engine, second))
    assert ours.keys() == theirs.keys()
    assert bool(ours) == (dtype != "float32")
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_averages_that_cannot_hold_are_refused(engine: RunningEngine) -> None:
    engine.create(config=QWEN2)
    engine.create(model_id="other", config=GPT2)
    copy(engine)
    before = weights(engine, "reference")
    cases = [
        ("reference", "policy", 1.0, "OPTIONS_INVALID", "decay"),
        ("reference", "policy", float("nan"), "OPTIONS_INVALID", "decay"),
        ("policy", "reference", 0.5, "OPTIONS_INVALID", "trained"),
        ("reference", "other", 0.5, "OPTIONS_INVALID", "shape"),
        ("reference", "missing", 0.5, "MODEL_NOT_FOUND", "missing"),
    ]
    for model_id, of, decay, code, word in cases:
        with pytest.raises(EngineCallError, match=word) as caught:
            average(engine, decay, model_id, of)
        assert caught.value.code == code
    assert all(torch.equal(before[name], tensor) for name, tensor in weights(engine, "reference").items())


def test_adapters_are_not_averaged(engine: RunningEngine) -> None:
    pytest.importorskip("peft", reason="peft is not installed (mrlm engine setup --extra lora)")
    engine.create(config=QWEN2, lora=pb.Lora(rank=2, alpha=4.0, seed=1))
    copy(engine)
    with pytest.raises(EngineCallError, match="adapter") as caught:
        average(engine, 0.5)
    assert caught.value.code == "OPTIONS_INVALID"
