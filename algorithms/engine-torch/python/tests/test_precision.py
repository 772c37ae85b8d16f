"""Number formats lower than float32: what is rounded, what is not, and the result of an overflow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autograd import accumulated
from client import Array, Outputs, group
from running import RunningEngine
from sampling.architectures import FUSED
from tiny import LLAMA, QWEN2

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gradients.loss_scale import GROWTH_STEPS, INITIAL, LossScale
from mrlm_engine.llama.backbone import LlamaBackbone

UNITS = [group([3, 4, 5], [[6, 7], [8, 9, 10]]), group([11, 12], [[13, 14, 15]])]
# Each gradient is below the smallest float16 by itself.
SMALL = 1e8


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"])}


@pytest.mark.parametrize(("dtype", "tolerance"), [("bfloat16", 0.05), ("float16", 0.01)])
def test_gradients_of_lower_formats_are_those_of_float32(engine: RunningEngine, dtype: str, tolerance: float) -> None:
    engine.create("exact", QWEN2)
    engine.create("policy", QWEN2, dtype=dtype, float32_head=True)
    for model_id in ("exact", "policy"):
        engine.client.forward_backward(UNITS, loss, model_id=model_id, normalizer=SMALL)
    exact, low = (accumulated(engine.state.trainable_model(model_id)) for model_id in ("exact", "policy"))
    difference = math.sqrt(sum(float((low[name] - gradient).square().sum()) for name, gradient in exact.items()))
    assert difference < tolerance * math.sqrt(sum(float(gradient.square().sum()) for gradient in exact.values()))


@pytest.mark.parametrize("config", [LLAMA, FUSED["qwen3"]], ids=["llama", "qwen3"])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_products_in_bfloat16_change_the_gradient_of_no_parameter(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], in_blocks: bool
) -> None:
    monkeypatch.setattr("mrlm_engine.llama.shape.has_bfloat16", lambda: True)
    if in_blocks:
        monkeypatch.setattr("mrlm_engine.logprobs.logprobs.LARGE_VOCABULARY", 0)
    found = {}
    for dtype in ("float32", "bfloat16"):
        engine.create(dtype, config, dtype=dtype)
        trainable = engine.state.trainable_model(dtype)
        assert isinstance(trainable.backbone, LlamaBackbone)
        engine.client.forward_backward(UNITS, loss, model_id=dtype)
        found[dtype] = accumulated(trainable)
    for name, exact in found["float32"].items():
        difference = (found["bfloat16"][name] - exact).norm() / exact.norm()
        assert difference < 0.1, name


def test_numerics_58_an_overflow_is_skipped_reported_and_halves_the_scale(
    engine: RunningEngine, tmp_path: Path
) -> None:
    engine.create(dtype="float16")
    engine.client.forward_backward(UNITS, lambda _, o: {"logprob": np.full_like(o["logprob"], 1e5)})
    skipped = engine.client.step()
    assert (skipped.applied, skipped.step, math.isfinite(skipped.grad_norm)) == (False, 0, False)
    assert f"from {INITIAL:g} to {INITIAL / 2:g}" in skipped.skipped_reason
    engine.client.forward_backward(UNITS, loss, normalizer=8)
    assert engine.client.step(learning_rate=1e-4).applied
    # Numerics 52: a resumed run continues with the scale.
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    second = RunningEngine()
    second.client.call = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c")).last_call
    norms = []
    for running in (engine, second):
        running.client.forward_backward(UNITS, loss, normalizer=8)
        norms.append(running.client.step().grad_norm)
        assert running.state.trainable_model("policy").loss_scale == LossScale(INITIAL / 2, 2)
    assert norms[0] == norms[1]
    second.stop()


def test_the_scale_grows_after_steps_without_overflow() -> None:
    scale = LossScale(4.0, GROWTH_STEPS - 1)
    scale.stepped()
    assert scale == LossScale(8.0, 0)
    assert LossScale(1.0).overflowed().endswith("from 1 to 1")
