"""Save, Load and Export."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from client import Array, EngineCallError, Outputs, group
from running import RunningEngine
from tiny import GPT2, QWEN2
from transformers import AutoModelForCausalLM

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

UNITS = [group([3, 4, 5], [[6, 7], [8, 9, 10]]), group([11, 12], [[13, 14, 15]])]


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"])}


def train(engine: RunningEngine, steps: int) -> None:
    for _ in range(steps):
        engine.client.forward_backward(UNITS, loss, normalizer=8)
        engine.client.step(weight_decay=0.01, max_grad_norm=1.0)
        engine.client.numbered("Publish", pb.PublishRequest, model_id="policy")


def weights(engine: RunningEngine) -> dict[str, bytes]:
    state = engine.state.registry.get("policy").module.state_dict()
    return {name: tensor.numpy().tobytes() for name, tensor in state.items()}


@pytest.fixture
def second() -> Any:
    running = RunningEngine()
    yield running
    running.stop()


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])
def test_numerics_52_a_loaded_checkpoint_goes_on_bit_by_bit(
    engine: RunningEngine, second: RunningEngine, config: dict[str, Any], tmp_path: Path
) -> None:
    engine.create(config=config)
    engine.client.numbered("CreateModel", pb.CreateModelRequest, model_id="reference", copy_of="policy")
    train(engine, 3)
    # Accumulated but not applied: part of the state too.
    engine.client.forward_backward(UNITS, loss, normalizer=3)
    saved = engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    random = torch.random.get_rng_state()
    torch.rand(3)
    loaded = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c"))
    assert saved.bytes == sum(f.stat().st_size for f in (tmp_path / "c").rglob("*") if f.is_file())
    assert loaded.last_call == engine.client.call
    assert [(m.model_id, m.step, m.version) for m in loaded.models] == [("policy", 3, 3), ("reference", 0, 0)]
    assert torch.equal(torch.random.get_rng_state(), random)
    assert weights(second) == weights(engine)
    second.client.call = loaded.last_call
    train(engine, 2)
    train(second, 2)
    assert weights(second) == weights(engine)
    described = second.client.unary("Describe", pb.DescribeRequest())
    assert (described.last_call, described.models[0].version) == (engine.client.call, 5)


def test_numerics_53_a_truncated_checkpoint_is_recognised_and_changes_nothing(
    engine: RunningEngine, tmp_path: Path
) -> None:
    engine.create()
    train(engine, 1)
    path = tmp_path / "c"
    engine.client.numbered("Save", pb.SaveRequest, directory=str(path))
    before = weights(engine)
    file = path / "models/0/optimizer.safetensors"
    whole = file.read_bytes()
    changed = bytearray(whole)
    changed[-1] ^= 1
    for content in (whole[:-1], bytes(changed), None):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(EngineCallError) as caught:
            engine.client.numbered("Load", pb.LoadRequest, directory=str(path))
        assert caught.value.code == "CHECKPOINT_INCOMPLETE"
        file.write_bytes(whole)
    (path / "manifest.json").unlink()
    with pytest.raises(EngineCallError) as caught:
        engine.client.numbered("Load", pb.LoadRequest, directory=str(path))
    assert caught.value.code == "CHECKPOINT_INCOMPLETE"
    assert weights(engine) == before


def test_numerics_53_an_interrupted_save_leaves_the_old_checkpoint(
    engine: RunningEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.create()
    path = tmp_path / "c"
    engine.client.numbered("Save", pb.SaveRequest, directory=str(path))
    manifest = (path / "manifest.json").read_bytes()
    train(engine, 1)
    monkeypatch.setattr("mrlm_engine.checkpoint.save.write_manifest", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(EngineCallError, match="full"):
        engine.client.numbered("Save", pb.SaveRequest, directory=str(path))
    assert (path / "manifest.json").read_bytes() == manifest
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
    monkeypatch.undo()
    engine.client.numbered("Save", pb.SaveRequest, directory=str(path))
    assert json.loads((path / "manifest.json").read_text())["models"][0]["step"] == 1


def test_numerics_53_what_a_killed_engine_has_left_goes_with_the_next_save(
    engine: RunningEngine, tmp_path: Path
) -> None:
    engine.create()
    for name in (".c.partial-1", ".c.old-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights.safetensors").write_bytes(b"half")
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_s1_directories_of_others_with_names_like_leftovers_stay(engine: RunningEngine, tmp_path: Path) -> None:
    engine.create()
    kept = {".c.old-backup", ".c.partial-", ".c.old-2024-notes"}
    for name in kept:
        (tmp_path / name).mkdir()
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    assert {p.name for p in tmp_path.iterdir()} == {"c", *kept}


@pytest.mark.parametrize("call", ["Save", "Export"])
def test_a_full_disk_is_said_and_costs_neither_the_engine_nor_what_was_written_before(
    engine: RunningEngine, tmp_path: Path, call: str
) -> None:
    engine.create()
    request = pb.SaveRequest if call == "Save" else pb.ExportRequest
    model = {} if call == "Save" else {"model_id": "policy"}
    path = tmp_path / "c"
    engine.client.numbered(call, request, directory=str(path), **model)
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(EngineCallError, match="could not be written") as caught:
            engine.client.numbered(call, request, directory=str(path), **model)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.code == "WRITE_FAILED"
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    engine.client.numbered(call, request, directory=str(path), **model)


def test_a_loaded_model_may_take_other_memory(engine: RunningEngine, tmp_path: Path) -> None:
    engine.create()
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    changes: tuple[dict[str, Any], ...] = ({}, {"micro_batch_tokens": 64, "gradient_checkpointing": True})
    for fields in changes:
        engine.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c"), **fields)
        model = engine.state.registry.get("policy")
        assert (model.micro_batch_tokens, model.gradient_checkpointing) == ((64, True) if fields else (0, False))


def test_value_head_and_low_precision_survive_a_checkpoint(
    engine: RunningEngine, second: RunningEngine, tmp_path: Path
) -> None:
    engine.create(config=QWEN2, dtype="bfloat16", value_head=True)

    def both(_: int, outputs: Outputs) -> dict[str, Array]:
        return {"logprob": np.ones_like(outputs["logprob"]), "value": outputs["value"] - 1}

    def steps(running: RunningEngine) -> None:
        for _ in range(2):
            running.client.forward_backward(UNITS, both, logprob=True, value=True)
            running.client.step(learning_rate=1e-4)

    steps(engine)
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    loaded = second.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c"))
    second.client.call = loaded.last_call
    steps(engine)
    steps(second)
    ours, theirs = (dict(e.state.registry.get("policy").named_parameters()) for e in (engine, second))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["tied", "gpt2"])
def test_export_is_a_hugging_face_directory(engine: RunningEngine, config: dict[str, Any], tmp_path: Path) -> None:
    model = engine.create(config=config, value_head=True)
    model.tokenizer_files["tokenizer.json"] = b'{"version": "1.0"}'
    model.tokenizer_files["additional_chat_templates/tool_use.jinja"] = b"t"
    files = engine.client.numbered("Export", pb.ExportRequest, model_id="policy", directory=str(tmp_path / "hf")).files
    template = "additional_chat_templates/tool_use.jinja"
    assert {"config.json", "model.safetensors", "tokenizer.json", template, "value_head.safetensors"} <= set(files)
    module = AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
    ids = torch.arange(2, 12)[None]
    assert torch.equal(module.eval()(ids).logits, model.module(ids).logits)
    engine.client.numbered("CreateModel", pb.CreateModelRequest, model_id="again", directory=str(tmp_path / "hf"))
    assert (
        engine.client.forward(UNITS, "again")[0]["logprob"].tobytes()
        == engine.client.forward(UNITS)[0]["logprob"].tobytes()
    )
