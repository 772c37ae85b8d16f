"""Refusals of requests: they have a stable code and change nothing."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from client import EngineCallError
from running import RunningEngine
from tiny import GPT2, QWEN2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

WRITES: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "Save": (pb.SaveRequest, {}),
    "Export": (pb.ExportRequest, {"model_id": "policy"}),
}


def refusal(engine: RunningEngine, name: str, request: type[Any], **fields: Any) -> str:
    with pytest.raises(EngineCallError) as caught:
        engine.client.numbered(name, request, **fields)
    assert caught.value.detail.hint
    return caught.value.code


def error_of(engine: RunningEngine, name: str, message: Any) -> EngineCallError | None:
    try:
        engine.client.unary(name, message)
    except EngineCallError as error:
        return error
    return None


def tree(directory: Path) -> dict[str, bytes | None]:
    """Returns every file below `directory` with its content; None for directories."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


@pytest.mark.parametrize("call", WRITES)
def test_s1_what_the_engine_did_not_write_is_never_replaced(engine: RunningEngine, tmp_path: Path, call: str) -> None:
    model = engine.create()
    request, fields = WRITES[call]
    model.module.save_pretrained(tmp_path / "model")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.txt").write_text("years of work")
    (tmp_path / "nested" / "deeper").mkdir(parents=True)
    (tmp_path / "file").write_text("a file")
    (tmp_path / "link").symlink_to("notes")
    (tmp_path / "claim").mkdir()
    (tmp_path / "claim" / "manifest.json").write_text('{"format": 1, "files": {}}')
    (tmp_path / "claim" / "mine.txt").write_text("mine")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("[" * 100_000)
    before = tree(tmp_path)
    for name in ("model", "notes", "nested", "file", "link", "claim", "broken", "notes/thesis.txt/x"):
        assert refusal(engine, call, request, directory=str(tmp_path / name), **fields) in (
            ("WRITE_FAILED", "DIRECTORY_OCCUPIED") if "x" in name else ("DIRECTORY_OCCUPIED",)
        )
        assert tree(tmp_path) == before
    assert refusal(engine, call, request, directory="/", **fields) == "DIRECTORY_OCCUPIED"
    assert refusal(engine, call, request, directory=f"{tmp_path}/a/..", **fields) == "DIRECTORY_OCCUPIED"


@pytest.mark.parametrize("call", WRITES)
def test_s1_own_directories_are_replaced_until_somebody_else_writes_there(
    engine: RunningEngine, tmp_path: Path, call: str
) -> None:
    engine.create()
    request, fields = WRITES[call]
    target = tmp_path / "out"
    target.mkdir()
    (tmp_path / "link").symlink_to("out")
    # The target is empty, then an export of the engine, then the same directory by another name.
    for name in ("out", "out", "link"):
        engine.client.numbered(call, request, directory=str(tmp_path / name), **fields)
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "out"]
    (target / "mine.txt").write_text("mine")
    before = tree(tmp_path)
    assert refusal(engine, call, request, directory=str(target), **fields) == "DIRECTORY_OCCUPIED"
    assert tree(tmp_path) == before
    # Leftovers are those of this directory, whatever its name would match as a pattern.
    (tmp_path / ".out.partial-1").mkdir()
    engine.client.numbered(call, request, directory=str(tmp_path / "*"), **fields)
    assert (tmp_path / ".out.partial-1").is_dir()


@pytest.mark.parametrize("call", [*WRITES, "Load"])
def test_robustness_names_that_are_no_directory_are_refused(engine: RunningEngine, tmp_path: Path, call: str) -> None:
    engine.create()
    request, fields = WRITES.get(call, (pb.LoadRequest, {}))
    assert refusal(engine, call, request, directory=f"{tmp_path}/a\0b", **fields) == "OPTIONS_INVALID"
    assert refusal(engine, call, request, directory="", **fields) == "OPTIONS_INVALID"
    long = refusal(engine, call, request, directory=f"{tmp_path}/{'a' * 5000}", **fields)
    assert long in ("WRITE_FAILED", "DIRECTORY_OCCUPIED", "CHECKPOINT_INCOMPLETE")
    assert list(tmp_path.iterdir()) == []


ABSURD: list[Any] = [
    *({**QWEN2, "vocab_size": size} for size in (0, -1, 2**62, 1.5, "many", None)),
    *({**QWEN2, "hidden_size": size} for size in (0, -32, 31, 2**40)),
    *({**QWEN2, "num_hidden_layers": size} for size in (-1, "two")),
    *({**QWEN2, "head_dim": size} for size in (0, 7, -8)),
    *({**QWEN2, "max_position_embeddings": size} for size in (-3, "long")),
    *({**QWEN2, "num_attention_heads": size} for size in (0, -4, None)),
    {**QWEN2, "intermediate_size": -1},
    {**QWEN2, "hidden_act": "no-such-function"},
    {**QWEN2, "rope_parameters": {"rope_type": "no-such-type"}},
    {**QWEN2, "rms_norm_eps": "small"},
    {**GPT2, "n_embd": 0},
    {**GPT2, "n_head": 3},
    {**GPT2, "n_positions": 0},
    {"model_type": "bert", "vocab_size": 41, "hidden_size": 0},
    pytest.param({"model_type": "vit"}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("config", ABSURD, ids=lambda config: config["model_type"])
def test_robustness_absurd_configurations_are_refused_and_leave_nothing(
    engine: RunningEngine, config: dict[str, Any]
) -> None:
    request = create_request("policy", json.dumps(config))
    request.call = 1
    estimate = pb.EstimateMemoryRequest(models=[request], sequence_tokens=16)
    with pytest.raises(EngineCallError) as caught:
        engine.client.unary("CreateModel", request)
    assert caught.value.code == "OPTIONS_INVALID"
    assert caught.value.detail.hint
    # It only multiplies sizes, so it may answer; it does not fail.
    answer = error_of(engine, "EstimateMemory", estimate)
    assert answer is None or (answer.code == "OPTIONS_INVALID" and answer.detail.hint)
    assert engine.state.registry.all() == []
    engine.client.call = 1
    engine.create()


WRONG: tuple[Any, ...] = ({}, [1], "x", -1.5)


def damaged(manifest: dict[str, Any]) -> list[Any]:
    """Yields manifests without a field, or with one of another type or value."""
    found: list[Any] = [[], 7, None, {}, "x"]
    for place in (manifest, manifest["models"][0], next(iter(manifest["files"].values()))):
        for key in list(place):
            kept = place.pop(key)
            found.append(json.loads(json.dumps(manifest)))
            for value in WRONG:
                place[key] = value
                found.append(json.loads(json.dumps(manifest)))
            place[key] = kept
    return found


def test_robustness_a_damaged_manifest_is_refused_and_changes_nothing(engine: RunningEngine, tmp_path: Path) -> None:
    model = engine.create()
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    manifest = json.loads((tmp_path / "c/manifest.json").read_text())
    cases = damaged(manifest)
    outside = json.loads(json.dumps(manifest))
    outside["models"][0]["folder"] = "../elsewhere"
    bare = {**manifest, "files": {}}
    other = json.loads(json.dumps(manifest))
    other["models"][0]["adapter_off"] = "missing"
    codes, calls = set(), itertools.count(10**6)
    for case in [*cases, outside, bare, other]:
        (tmp_path / "c/manifest.json").write_text(json.dumps(case))
        if case is bare:
            os.remove(tmp_path / "c/models/0/weights.safetensors")
        error = error_of(engine, "Load", pb.LoadRequest(call=next(calls), directory=str(tmp_path / "c")))
        # A name or a number of another value can be restored.
        codes.add("" if error is None else error.code)
        assert error is None or error.detail.hint
    assert codes <= {"", "CHECKPOINT_INCOMPLETE", "CHECKPOINT_MISMATCH"}
    assert model.step == 0


def test_robustness_a_checkpoint_whose_files_do_not_fit_is_refused(engine: RunningEngine, tmp_path: Path) -> None:
    engine.create()
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"))
    config = tmp_path / "c/models/0/config.json"
    for content in (b"{", b"[]", json.dumps({**QWEN2, "vocab_size": 0}).encode(), b"\xff"):
        config.write_bytes(content)
        manifest = json.loads((tmp_path / "c/manifest.json").read_text())
        manifest["files"]["models/0/config.json"] = {
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        (tmp_path / "c/manifest.json").write_text(json.dumps(manifest))
        code = refusal(engine, "Load", pb.LoadRequest, directory=str(tmp_path / "c"))
        assert code in ("CHECKPOINT_MISMATCH", "OPTIONS_INVALID")


def test_robustness_files_that_never_end_and_texts_nested_deeply_are_refused(
    engine: RunningEngine, tmp_path: Path
) -> None:
    model = engine.create()
    deep = "[" * 200_000
    for name in ("pipe", "config", "weights"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    (tmp_path / "config" / "config.json").write_text(deep)
    (tmp_path / "config" / "model.safetensors").write_bytes(b"")
    model.module.config.save_pretrained(tmp_path / "weights")
    os.mkfifo(tmp_path / "weights" / "model.safetensors")
    assert refusal(engine, "Load", pb.LoadRequest, directory=str(tmp_path / "pipe")) == "CHECKPOINT_INCOMPLETE"
    for call, (request, fields) in WRITES.items():
        code = refusal(engine, call, request, directory=str(tmp_path / "pipe"), **fields)
        assert code == "DIRECTORY_OCCUPIED"
    for name in ("config", "weights"):
        fields = {"model_id": "other", "role": pb.ROLE_POLICY, "dtype": "float32", "directory": str(tmp_path / name)}
        code = refusal(engine, "CreateModel", pb.CreateModelRequest, **fields)
        assert code == "MODEL_DIRECTORY_INVALID"
    fields = {"role": pb.ROLE_POLICY, "dtype": "float32", "random": pb.RandomSource(config_json=deep, seed=0)}
    assert refusal(engine, "CreateModel", pb.CreateModelRequest, model_id="other", **fields) == "OPTIONS_INVALID"
