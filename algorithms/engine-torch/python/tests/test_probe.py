"""The probe at model creation: it passes correct implementations and finds planted faults in both users."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
from running import RunningEngine
from sampling.architectures import BY_MODULE, FUSED, MISTRAL, make
from tiny import LLAMA, QWEN2

from mrlm_engine.backbone.choose import choose_backbone, probe_difference
from mrlm_engine.backbone.transformers_backbone import TransformersBackbone
from mrlm_engine.compute.matmul import has_bfloat16
from mrlm_engine.decoding.transformers_decoder import ModuleDecoder
from mrlm_engine.errors import EngineError
from mrlm_engine.llama import shape as llama_shape
from mrlm_engine.llama.backbone import LlamaBackbone
from mrlm_engine.llama.backbone_weights import fold_layer
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.decoder_weights import DecoderWeights
from mrlm_engine.llama.probe import Probe, tolerance
from mrlm_engine.llama.rotary import RotaryTable
from mrlm_engine.memory.available import Available
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.choose_decoder import choose_decoder, module_decoder
from mrlm_engine.service import rank_models

CASES = {**FUSED, **BY_MODULE}
BIASES = {**LLAMA, "attention_bias": True}
# A window as long as the longest sequence leaves nothing out.
WIDE = {**MISTRAL, "sliding_window": 128}
# Both limit attention to a window; Llama has none, whatever its configuration contains.
WINDOWS = {
    "mistral": MISTRAL,
    "qwen2": {**QWEN2, "use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1},
    "qwen3": {**FUSED["qwen3"], "layer_types": ["full_attention", "sliding_attention"], "use_sliding_window": True},
}
WINDOWS["qwen3"]["sliding_window"] = 6
FAMILY = {**FUSED, "biases": BIASES, "wide": WIDE, "llama-window": {**LLAMA, "sliding_window": 4}}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_every_architecture_passes_with_both_users(name: str, dtype: str) -> None:
    model = make(CASES[name], dtype=dtype)
    probe = Probe(model)
    # In float32 correct computations are far below the limit.
    limit = 1e-5 if dtype == "float32" else probe.tolerance
    assert probe_difference(probe, choose_backbone(model)) < limit
    weights = inference_weights(model)
    decoder = choose_decoder(model, weights) if name in FUSED else module_decoder(model, weights)
    assert isinstance(decoder, LlamaDecoder if name in FUSED else ModuleDecoder)
    assert probe.decoder_difference(decoder, features_are_logits=name not in FUSED) < limit
    assert decoder.rows == 0


@pytest.mark.parametrize("name", FAMILY)
def test_both_users_know_the_same_models(name: str) -> None:
    model = make(FAMILY[name])
    assert isinstance(choose_backbone(model), LlamaBackbone)
    assert isinstance(choose_decoder(model, inference_weights(model)), LlamaDecoder)


def test_limits_grow_with_the_roundings_of_a_format() -> None:
    assert tolerance(torch.float32, 24) == 2e-4
    assert tolerance(torch.float16, 2) == 1e-2
    assert 0.04 < tolerance(torch.bfloat16, 2) < tolerance(torch.bfloat16, 24) < 0.15


def rotary_base(monkeypatch: pytest.MonkeyPatch) -> None:
    made = RotaryTable.__init__

    def wrong(self: RotaryTable, module: Any, device: torch.device) -> None:
        other = copy.deepcopy(module)
        # theta^(-2i/d) with ten times the theta.
        exponents = torch.arange(len(other.inv_freq)) / len(other.inv_freq)
        other.inv_freq = other.inv_freq * 10.0**-exponents
        made(self, other, device)

    monkeypatch.setattr(RotaryTable, "__init__", wrong)


def sliding_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_shape, "_has_window", lambda config: False)


def transposed_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    fill, folded = DecoderWeights.copy_from, []

    def wrong_fold(*arguments: Any) -> Any:
        layer = fold_layer(*arguments)
        folded.append(layer)
        if len(folded) == 2:
            layer.output = layer.output.t().reshape(layer.output.shape)
        return layer

    def wrong_fill(self: DecoderWeights, weights: Any) -> None:
        fill(self, weights)
        output = self.layers[1].output
        output.copy_(output.t().reshape(output.shape).clone())

    monkeypatch.setattr("mrlm_engine.llama.backbone.fold_layer", wrong_fold)
    monkeypatch.setattr(DecoderWeights, "copy_from", wrong_fill)


FAULTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], dict[str, dict[str, Any]]]] = {
    "rotary base": (rotary_base, FUSED),
    "sliding window": (sliding_window, WINDOWS),
    "transposed weight": (transposed_weight, FUSED),
}
PLANTED = [
    (fault, name, dtype)
    for fault, (_, configs) in FAULTS.items()
    for name in configs
    for dtype in ("float32", "bfloat16")
]


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize(("fault", "name", "dtype"), PLANTED)
def test_a_planted_fault_is_found_in_both_users(
    fault: str, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plant, configs = FAULTS[fault]
    model = make(configs[name], dtype=dtype)
    plant(monkeypatch)
    assert isinstance(choose_decoder(model, inference_weights(model)), ModuleDecoder)
    assert ["hand-written decoder differ" in message for message in messages(caplog)] == [True]
    caplog.clear()
    if (fault, name, dtype) == ("rotary base", "llama-scaled", "bfloat16") and has_bfloat16():
        # The logits behind the last of 12 tokens change less than bfloat16 rounds; those of the decoder were more.
        return
    assert isinstance(choose_backbone(model), TransformersBackbone)
    # The hand-written training passes are in float32, and in bfloat16 where the processor multiplies it.
    expected = [True] if dtype == "float32" or has_bfloat16() else []
    assert ["hand-written training passes differ" in message for message in messages(caplog)] == expected


def test_a_window_is_found_by_the_configuration_before_the_probe() -> None:
    for config in WINDOWS.values():
        assert llama_shape.llama_shape(make(config).module) is None


def test_the_decoder_of_a_policy_is_probed_when_the_model_is_created(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    transposed_weight(monkeypatch)
    engine.create("policy")
    assert [message.split("logits of the ")[1][:12] for message in messages(caplog)] == ["hand-written"] * 2
    trainable = engine.state.trainable_model("policy")
    assert isinstance(trainable.backbone, TransformersBackbone)


def test_a_decoder_without_memory_for_its_copy_is_probed_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LoadedModel] = []
    monkeypatch.setattr(rank_models, "hand_written_decoder", lambda model, weights: made.append(model))
    model = make(QWEN2)
    rank_models.probe_decoder(model)
    assert made == [model]
    monkeypatch.setattr(rank_models, "available_memory", lambda device: Available(1, "test"))
    rank_models.probe_decoder(model)
    assert made == [model]


def test_a_head_that_is_not_a_product_with_the_last_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make(BY_MODULE["gpt2"])
    norm = model.module.transformer.ln_f
    model.module.lm_head.register_forward_pre_hook(lambda _, inputs: (norm(inputs[0]) * 2.0,))
    with pytest.raises(EngineError, match="head on its last hidden state"):
        choose_backbone(model)
