"""Outputs and gradients through the wire against torch's autograd, for every architecture and every way of packing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from autograd import TorchOutputs, accumulated, largest_difference, reference_gradients, reference_outputs
from client import Array, Outputs, group, sequence
from running import RunningEngine
from sampling.architectures import MIXTURE, QWEN3
from tiny import GPT2, LLAMA, QWEN2

from mrlm_engine.compute import matmul as products
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models import LoadedModel

MISTRAL: dict[str, Any] = {**LLAMA, "model_type": "mistral", "sliding_window": None, "head_dim": 12}
SLIDING: dict[str, Any] = {**MISTRAL, "sliding_window": 4, "attn_implementation": "eager"}
# Biases of all projections of attention.
BIASES: dict[str, Any] = {**LLAMA, "attention_bias": True}
GEMMA2: dict[str, Any] = {
    **QWEN2,
    "model_type": "gemma2",
    "head_dim": 8,
    "query_pre_attn_scalar": 8,
    "final_logit_softcapping": 2.0,
}
COHERE: dict[str, Any] = {**QWEN2, "model_type": "cohere", "logit_scale": 0.3}


def units_of(seed: int = 0) -> list[pb.Unit]:
    """Returns groups with prompts and completions of many lengths, and a lone sequence with holes in its mask."""
    random = np.random.default_rng(seed)

    def tokens(n: int) -> list[int]:
        return [int(t) for t in random.integers(2, 41, n)]

    holes = sequence(tokens(20), [0, *(int(b) for b in random.integers(0, 2, 18)), 1])
    return [
        group(tokens(9), [tokens(n) for n in (5, 7, 3)]),
        group(tokens(9), [tokens(4), tokens(4)]),
        group(tokens(12), [tokens(n) for n in (6, 1, 2, 6)]),
        pb.Unit(sequences=[holes]),
        group(tokens(3), [tokens(5)]),
    ]


def client_loss(index: int, outputs: Outputs) -> dict[str, Array]:
    """Returns the derivative of `torch_loss`, written out."""
    weight = index + 1.0
    gradients = {"logprob": weight * (2 * outputs["logprob"] + np.exp(outputs["logprob"]))}
    if "entropy" in outputs:
        gradients["entropy"] = np.cos(outputs["entropy"])
    if "value" in outputs:
        gradients["value"] = outputs["value"] - 0.5
    return gradients


def numbered_loss(number: int, _: int, outputs: Outputs) -> dict[str, Array]:
    """Returns `client_loss` of a unit that is sent alone."""
    return client_loss(number, outputs)


def torch_loss(index: int, outputs: TorchOutputs) -> torch.Tensor:
    weight = index + 1.0
    total = weight * (outputs["logprob"].square() + outputs["logprob"].exp()).sum() + outputs["entropy"].sin().sum()
    if "value" in outputs:
        total = total + 0.5 * (outputs["value"] - 0.5).square().sum()
    return total


def move_value_head(model: LoadedModel) -> None:
    if model.value_head is not None:
        with torch.no_grad():
            model.value_head.weight.copy_(torch.linspace(-1, 1, len(model.value_head.weight)))


def move_vectors(model: LoadedModel) -> None:
    """Changes biases and the weights of norms, which begin at 0 and 1."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.module.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.2)
    model.generation += 1


@pytest.mark.parametrize(
    "config",
    [QWEN2, LLAMA, BIASES, MISTRAL, QWEN3, SLIDING, GPT2, GEMMA2, COHERE, MIXTURE],
    ids=lambda c: c["model_type"],
)
def test_gradients_through_the_wire_equal_autograd(engine: RunningEngine, config: dict[str, Any]) -> None:
    model = engine.create(config=config, value_head=True)
    move_value_head(model)
    move_vectors(model)
    units = units_of()
    result = engine.client.forward_backward(
        units, client_loss, normalizer=3.0, temperature=0.7, logprob=True, entropy=True, value=True, final_value=True
    )
    for i, unit in enumerate(units):
        for name, expected in reference_outputs(model, unit, 0.7).items():
            np.testing.assert_allclose(result.outputs[i][name], expected.detach().numpy(), atol=2e-5)
    expected_gradients = reference_gradients(model, units, lambda i, o: torch_loss(i, o) / 3.0, 0.7)
    found = accumulated(engine.state.trainable_model("policy"))
    assert largest_difference(found, expected_gradients) < 2e-5


def test_hot_path_is_used_where_it_should_be(engine: RunningEngine) -> None:
    configs = {"qwen2": QWEN2, "llama": LLAMA, "biases": BIASES, "mistral": MISTRAL, "qwen3": QWEN3}
    configs |= {"sliding": SLIDING, "gpt2": GPT2}
    backbones = {}
    for name, config in configs.items():
        engine.create(name, config)
        backbones[name] = type(engine.state.trainable_model(name).backbone).__name__
    dense, plain = "LlamaBackbone", "TransformersBackbone"
    assert backbones == {name: plain if name in ("sliding", "gpt2") else dense for name in configs}


def gradients_of(engine: RunningEngine, units: Sequence[pb.Unit], model_id: str = "policy") -> dict[str, torch.Tensor]:
    trainable = engine.state.trainable_model(model_id)
    trainable.clear()
    engine.client.forward_backward(units, client_loss, model_id=model_id, logprob=True, entropy=True)
    return accumulated(trainable)


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
def test_numerics_1_3_gradient_is_equal_for_every_micro_batch_split(
    engine: RunningEngine, config: dict[str, Any]
) -> None:
    model = engine.create(config=config)
    units = units_of()
    whole = None
    for budget in (10_000, 64, 30, 1):
        model.micro_batch_tokens = budget
        found = gradients_of(engine, units)
        whole = whole or found
        assert largest_difference(found, whole) < 1e-5
    # Accumulation over several calls is the same sum.
    trainable = engine.state.trainable_model("policy")
    trainable.clear()
    for i, unit in enumerate(units):
        engine.client.forward_backward([unit], partial(numbered_loss, i), logprob=True, entropy=True)
    assert whole is not None
    assert largest_difference(accumulated(trainable), whole) < 1e-5


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
def test_numerics_36_37_packed_equals_padded_equals_single(engine: RunningEngine, config: dict[str, Any]) -> None:
    engine.create(config=config)
    units = units_of()
    together = engine.client.forward(units, logprob=True, entropy=True)
    for unit, packed in zip(units, together, strict=True):
        alone = [engine.client.forward([pb.Unit(sequences=[s])], logprob=True, entropy=True)[0] for s in unit.sequences]
        for name in ("logprob", "entropy"):
            np.testing.assert_allclose(packed[name], np.concatenate([a[name] for a in alone]), atol=1e-5)


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
def test_numerics_37_a_neighbour_changes_nothing(engine: RunningEngine, config: dict[str, Any]) -> None:
    engine.create(config=config)
    units = units_of()
    before = engine.client.forward(units)[1]["logprob"]
    units[0] = group([5] * 9, [[7] * 5, [8] * 7, [9] * 3])
    after = engine.client.forward(units)[1]["logprob"]
    assert before.tobytes() == after.tobytes()


def test_shared_prefixes_are_computed_once_and_last_tokens_not_at_all(engine: RunningEngine) -> None:
    engine.create()
    unit = group(list(range(2, 22)), [[3, 4, 5], [6, 7, 8], [9, 10, 11]])
    result = engine.client.forward_backward([unit], client_loss)
    assert result.done is not None
    assert (result.done.tokens, result.done.computed_tokens) == (69, 20 + 3 * 2)


def test_gradient_checkpointing_changes_nothing(engine: RunningEngine) -> None:
    for name, config in (("dense", QWEN2), ("plain", GPT2)):
        engine.create(name, config)
        engine.create(f"{name}-checkpointed", config, gradient_checkpointing=True)
        expected = gradients_of(engine, units_of(), name)
        assert largest_difference(gradients_of(engine, units_of(), f"{name}-checkpointed"), expected) < 1e-6


def test_long_sequences_take_the_fused_attention_and_agree(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.create()
    short = gradients_of(engine, units_of())
    monkeypatch.setattr("mrlm_engine.llama.attention.MAX_KEPT_KEYS", 0)
    assert largest_difference(gradients_of(engine, units_of()), short) < 1e-5


def test_finite_differences_agree_with_the_accumulated_gradient(engine: RunningEngine) -> None:
    model = engine.create()
    units = units_of()[:3]

    def loss() -> float:
        outputs = engine.client.forward(units, logprob=True)
        return float(sum(np.sum(o["logprob"].astype(np.float64) * (i + 1)) for i, o in enumerate(outputs)))

    engine.client.forward_backward(units, lambda i, o: {"logprob": np.full_like(o["logprob"], i + 1)})
    parameter = model.module.model.layers[0].mlp.down_proj.weight
    gradient = parameter.grad.clone()
    direction = gradient / gradient.norm()
    step = 1e-2
    values = []
    for sign in (1, -2):
        with torch.no_grad():
            parameter.add_(direction, alpha=sign * step)
        model.generation += 1
        values.append(loss())
    assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(gradient.norm()), rel=2e-2)


@pytest.mark.skipif(not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this torch has no oneDNN")
def test_gradients_by_onednn_with_padded_rows(engine: RunningEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "_onednn_is_faster", lambda: True)
    monkeypatch.setattr(products, "MIN_MULTIPLICATIONS", 0)
    model, units = engine.create(), units_of()
    result = engine.client.forward_backward(units, client_loss, logprob=True, entropy=True)
    assert result.done is not None
    assert result.done.computed_tokens > products.ROWS
    found = accumulated(engine.state.trainable_model("policy"))
    assert largest_difference(found, reference_gradients(model, units, torch_loss)) < 1e-4
