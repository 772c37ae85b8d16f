"""Adapters in 16 bits and on disk: export, continued training, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from client import Array, EngineCallError, Outputs, group
from rounding import tolerance
from running import RunningEngine
from safetensors.torch import load_file, save_file
from tiny import GPT2, LLAMA, QWEN2, create_model, create_request
from transformers import AutoModelForCausalLM

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.llama.adapter import allocate_adapters
from mrlm_engine.models import LoadedModel, ModelRegistry
from mrlm_engine.models.lora import ADAPTER, adapter_layers, delta_weight
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.weights import inference_weights

peft = pytest.importorskip("peft", reason="peft is not installed (mrlm engine setup --extra lora)")

UNITS = [group([3, 4, 5], [[6, 7], [8, 9, 10]]), group([11, 12], [[13, 14, 15]])]
LORA = pb.Lora(rank=4, alpha=8.0, seed=5)
IDS = torch.arange(2, 12)[None]


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"])}


def trained(engine: RunningEngine, config: dict[str, Any], dtype: str, lora: pb.Lora = LORA) -> LoadedModel:
    model = engine.create(config=config, dtype=dtype, lora=lora)
    for _ in range(3):
        engine.client.forward_backward(UNITS, loss)
        engine.client.step(learning_rate=0.02)
    return model


def export(engine: RunningEngine, directory: Path, *, merge: bool = True) -> list[str]:
    request = {"model_id": "policy", "directory": str(directory), "merge_adapter": merge}
    return list(engine.client.numbered("Export", pb.ExportRequest, **request).files)


def logits(module: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = module.eval()(IDS).logits.float()
    return found


@pytest.mark.parametrize("size", [1e-5, 1e-4, 3e-4, 1e-3])
def test_m1_the_sampler_computes_an_adapted_layer_as_the_trainer_does(size: float) -> None:
    """W + s B A rounded to bfloat16 differed by 3.1, 2.2, 1.5 and 0.7 times what the adapter adds."""
    config = {**QWEN2, "hidden_size": 128, "intermediate_size": 384, "initializer_range": 0.02}
    request = create_request("policy", json.dumps(config), dtype="bfloat16", lora=pb.Lora(rank=16, alpha=32.0))
    model = create_model(request, ModelRegistry(), Placement(torch.device("cpu")))
    generator = torch.Generator().manual_seed(0)
    weights = inference_weights(model)
    with torch.no_grad():
        for name, layer in adapter_layers(model.module).items():
            layer.lora_B[ADAPTER].weight.copy_(torch.randn(layer.lora_B[ADAPTER].weight.shape, generator=generator))
            layer.lora_B[ADAPTER].weight.mul_(size)
            x = torch.randn(64, layer.in_features, generator=generator).bfloat16()
            adapter, views = allocate_adapters(weights, [name])
            assert adapter is not None
            for factor, view in views.items():
                view.copy_(weights[factor])
            adapter.scale = float(weights["lora_scale"])
            base = layer.base_layer(x)
            learnt = (x.float() @ delta_weight(layer).t()).norm()
            assert (adapter.added_to(base, x).float() - layer(x).float()).norm() < 0.02 * learnt


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("config", [QWEN2, LLAMA, GPT2], ids=["qwen2", "llama", "gpt2"])
def test_m1_a_merged_export_is_float32_with_the_adapter_beside_it(
    engine: RunningEngine, config: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    model = trained(engine, config, dtype)
    files = export(engine, tmp_path / "hf")
    assert {"adapter/adapter_config.json", "adapter/adapter_model.safetensors", "model.safetensors"} <= set(files)
    merged = load_file(tmp_path / "hf/model.safetensors")
    assert {tensor.dtype for tensor in merged.values()} == {torch.float32}
    for name, layer in adapter_layers(model.module).items():
        exact = layer.base_layer.weight.detach().float() + delta_weight(layer)
        assert torch.equal(merged[f"{name}.weight"], exact)
    # Without options it is loaded in its own format, and its adapter is not applied a second time.
    module = AutoModelForCausalLM.from_pretrained(tmp_path / "hf", dtype="auto")
    assert module.dtype == torch.float32
    assert float((logits(module) - logits(model.module)).abs().max()) < tolerance(dtype, 10)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["qwen2", "gpt2"])
def test_m1_peft_reads_the_adapter_on_its_base(
    engine: RunningEngine, config: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    model = trained(engine, config, dtype)
    export(engine, tmp_path / "hf", merge=False)
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "hf", dtype="auto")
    assert base.dtype == model.dtype
    # In bfloat16 peft loads the factors as float32, like the engine.
    wrapped = peft.PeftModel.from_pretrained(base, str(tmp_path / "hf/adapter"))
    assert float((logits(wrapped) - logits(model.module)).abs().max()) < tolerance(dtype, 10)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_m1_training_continues_from_a_saved_adapter(engine: RunningEngine, dtype: str, tmp_path: Path) -> None:
    lora = pb.Lora(rank=4, alpha=8.0, target_modules=["q_proj", "model.layers.1.mlp.down_proj"])
    model = trained(engine, QWEN2, dtype, lora)
    export(engine, tmp_path / "hf")
    adapter = str(tmp_path / "hf/adapter")
    again = engine.create("again", config=QWEN2, dtype=dtype, lora=pb.Lora(path=adapter))
    ours, theirs = dict(model.module.named_parameters()), dict(again.module.named_parameters())
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert {n for n, p in theirs.items() if p.requires_grad} == {n for n, p in ours.items() if p.requires_grad}
    before = [o["logprob"].tobytes() for o in engine.client.forward(UNITS)]
    assert [o["logprob"].tobytes() for o in engine.client.forward(UNITS, "again")] == before
    engine.client.forward_backward(UNITS, loss, model_id="again")
    engine.client.step("again")
    assert [o["logprob"].tobytes() for o in engine.client.forward(UNITS, "again")] != before
    # Settings in addition to the path must equal those of the adapter.
    engine.create("named", config=QWEN2, lora=pb.Lora(path=adapter, rank=4, alpha=8.0))
    for other in (pb.Lora(rank=8), pb.Lora(alpha=4.0), pb.Lora(target_modules=["q_proj"])):
        other.path = adapter
        with pytest.raises(EngineCallError, match="differs from the adapter") as caught:
            engine.create("other", config=QWEN2, lora=other)
        assert caught.value.code == "OPTIONS_INVALID"


def test_m1_an_rslora_adapter_keeps_its_scale(engine: RunningEngine, tmp_path: Path) -> None:
    base = AutoModelForCausalLM.from_config(engine.create("base", config=QWEN2).config)
    settings = peft.LoraConfig(r=4, lora_alpha=8, use_rslora=True, target_modules=["q_proj"], init_lora_weights=False)
    wrapped = peft.get_peft_model(base, settings)
    wrapped.base_model.model.load_state_dict(
        {
            n.replace("q_proj.", "q_proj.base_layer."): t
            for n, t in engine.state.registry.get("base").module.state_dict().items()
        },
        strict=False,
    )
    wrapped.save_pretrained(str(tmp_path / "adapter"))
    model = engine.create(config=QWEN2, lora=pb.Lora(path=str(tmp_path / "adapter")))
    assert float((logits(wrapped) - logits(model.module)).abs().max()) < tolerance("float32", 10)


def test_m1_adapters_that_do_not_fit_are_refused(engine: RunningEngine, tmp_path: Path) -> None:
    trained(engine, QWEN2, "float32")
    export(engine, tmp_path / "hf")
    adapter = tmp_path / "hf/adapter"

    def code(directory: Path, config: dict[str, Any] = QWEN2) -> tuple[str, str]:
        with pytest.raises(EngineCallError) as caught:
            engine.create("other", config=config, lora=pb.Lora(path=str(directory)))
        return caught.value.code, caught.value.detail.message

    def changed(settings: dict[str, Any] | None = None, tensors: dict[str, torch.Tensor] | None = None) -> Path:
        directory = tmp_path / f"changed-{len(list(tmp_path.iterdir()))}"
        directory.mkdir()
        config = json.loads((adapter / "adapter_config.json").read_text())
        (directory / "adapter_config.json").write_text(json.dumps({**config, **(settings or {})}))
        save_file(tensors or load_file(adapter / "adapter_model.safetensors"), directory / "adapter_model.safetensors")
        return directory

    assert code(tmp_path / "none")[0] == "MODEL_DIRECTORY_MISSING"
    tensors = load_file(adapter / "adapter_model.safetensors")
    first = next(iter(tensors))
    for found, words in (
        (code(tmp_path / "hf"), "holds no adapter_config.json"),
        (code(adapter, {**QWEN2, "hidden_size": 64}), "does not fit"),
        (code(adapter, {**QWEN2, "num_hidden_layers": 1}), "which is no linear layer of this model"),
        (code(adapter, GPT2), "which is no linear layer of this model"),
        (code(changed({"peft_type": "IA3"})), "of type IA3"),
        (code(changed({"use_dora": True})), "use_dora: true"),
        (code(changed({"rank_pattern": {"q_proj": 2}})), "rank_pattern"),
        (code(changed({"modules_to_save": ["lm_head"]})), "modules_to_save"),
        (code(changed({"r": 8})), "does not fit"),
        (code(changed(tensors={n: t for n, t in tensors.items() if n != first})), "only one factor"),
        (code(changed(tensors={**tensors, "base_model.model.lm_head.weight": torch.zeros(2)})), "is no factor"),
        (code(changed(tensors={**tensors, first: tensors[first] * torch.nan})), "not finite"),
    ):
        assert found[0] == "MODEL_DIRECTORY_INVALID"
        assert words in found[1]
    # An adapter in the directory of the weights must not be omitted without an error.
    for file in adapter.iterdir():
        file.rename(tmp_path / "hf" / file.name)
    with pytest.raises(EngineCallError, match="holds an adapter"):
        engine.client.unary("CreateModel", pb.CreateModelRequest(model_id="other", directory=str(tmp_path / "hf")))
