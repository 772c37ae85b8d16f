"""GGUF files and names that are refused. Real files are those of `npm run test:models`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from mrlm_engine.errors import EngineError
from mrlm_engine.fetch.__main__ import get
from mrlm_engine.fetch.store import ModelStore

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def write_gguf(path: Path, *, template: str | None = TEMPLATE, split: str = "gpt-2", parts: int = 1) -> Path:
    """Writes a model with random weights and the 256 bytes as tokens, beside two markers."""
    vocabulary = [*_bytes(), "<|im_start|>", "<|im_end|>", "th"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_license("mit")
    for add, value in (
        (writer.add_context_length, 64),
        (writer.add_embedding_length, 32),
        (writer.add_block_count, 1),
        (writer.add_feed_forward_length, 64),
        (writer.add_head_count, 2),
        (writer.add_head_count_kv, 2),
        (writer.add_rope_dimension_count, 16),
        (writer.add_vocab_size, len(vocabulary)),
    ):
        add(value)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(split)
    writer.add_token_list(vocabulary)
    writer.add_token_types([1] * 256 + [3, 3, 1])
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(257)
    writer.add_bos_token_id(256)
    if template is not None:
        writer.add_chat_template(template)
    if parts > 1:
        writer.add_uint16("split.count", parts)
    generator = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(vocabulary), 32),
        "output_norm.weight": (32,),
        "blk.0.attn_norm.weight": (32,),
        "blk.0.ffn_norm.weight": (32,),
        **{f"blk.0.attn_{name}.weight": (32, 32) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_up.weight": (64, 32),
        "blk.0.ffn_gate.weight": (64, 32),
        "blk.0.ffn_down.weight": (32, 64),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, generator.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _bytes() -> list[str]:
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    return list(bytes_to_unicode().values())


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", lambda event: None)


def refused(name: Path | str, store: ModelStore) -> EngineError:
    with pytest.raises(EngineError) as error:
        get(str(name), store)
    assert error.value.hint
    assert store.all() == []
    return error.value


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"template": None}, "has no chat template"),
        ({"split": "unheard-of"}, "the rule 'unheard-of'"),
        ({"parts": 3}, "one of 3 parts"),
        ({}, "hardly better than by chance"),
    ],
)
def test_gguf_files_that_would_become_another_model(
    fields: dict[str, Any], message: str, store: ModelStore, tmp_path: Path
) -> None:
    assert message in refused(write_gguf(tmp_path / "m.gguf", **fields), store).message
    assert not any(path.is_dir() for path in store.root.glob("*"))


def test_files_that_are_no_gguf(store: ModelStore, tmp_path: Path) -> None:
    assert refused(tmp_path / "missing.gguf", store).code == "MODEL_DIRECTORY_MISSING"
    (tmp_path / "page.gguf").write_text("<html>")
    assert "does not begin with `GGUF`" in refused(tmp_path / "page.gguf", store).message
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    assert "could not be converted" in refused(tmp_path / "cut.gguf", store).message


@pytest.mark.parametrize("name", ["hub:", "hub:name", "hub:a/b/c", "hub:a/b@", "hub:a b/c"])
def test_names_that_the_hub_cannot_have(name: str, store: ModelStore) -> None:
    assert "names no model of the hub" in refused(name, store).message


def test_a_model_that_is_not_stored_cannot_be_removed(store: ModelStore) -> None:
    with pytest.raises(EngineError, match="No model 'hub:a/b' is stored"):
        store.remove("hub:a/b")


def test_another_converter_converts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[dict[str, Any]] = []
    store = ModelStore(tmp_path / "models", notices.append)
    file = str(write_gguf(tmp_path / "m.gguf"))
    monkeypatch.setattr("mrlm_engine.fetch.gguf._CHANCE", 9)  # Its weights are random.
    assert get(file, store) == get(file, store)
    assert len(notices) == 1
    monkeypatch.setattr("mrlm_engine.fetch.gguf._converter", lambda: "another")
    again = get(file, store)
    assert len(notices) == 2
    assert store.all() == [again]
