"""Converts a GGUF file into a Hugging Face directory, by transformers.

The weights are dequantised to float32, which represents the values of every GGUF type exactly.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Mapping
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mrlm_engine.errors import EngineError
from mrlm_engine.fetch.store import ModelStore, StoredModel, check_disk, disk_full, is_disk_full, plain

# Values of `tokenizer.ggml.pre` whose split transformers leaves at that of GPT-2, by llama.cpp's src/llama-vocab.cpp.
_SPLIT_OF_GPT2 = ("gpt-2", "phi-2", "mpt", "olmo", "jais")
_SPLIT_WITH_DIGITS = ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone")
# Keys that are true of the GGUF file and not of the converted model.
_DROPPED = ("_name_or_path", "_model_name_or_path", "quantization_config")
_TEXT = "The capital of France is Paris, and the capital of Italy is Rome. In 2024 there were 12 months in the year."
_CHARACTERS = 'Add 1234 + 56.\n\n\tdef f(x):  return {"é": [x, "😀"]}  '
# A model that computes predicts the text better than by chance, log(vocabulary) nats a token: at most this share of it.
_CHANCE = 0.75
_MARK = "mrlm-probe"
# Template of a GGUF file, beside it: for one that has none, or a wrong one.
_TEMPLATE = "chat_template.jinja"


def get_from_gguf(path: Path, store: ModelStore) -> StoredModel:
    """Returns the converted model of a GGUF file, which is converted unless the store has it."""
    if not path.is_file():
        raise EngineError(
            "MODEL_DIRECTORY_MISSING",
            f"There is no file {path}.",
            "Check the path of the GGUF file. A model of the hub is named hub:ORG/NAME.",
        )
    with path.open("rb") as content:
        if content.read(4) != b"GGUF":
            raise _invalid(f"{path} is no GGUF file: it does not begin with `GGUF`.", "Download it again.")
        content.seek(0)
        digest = hashlib.sha256()
        while block := content.read(1 << 20):
            digest.update(block)
    template = path.resolve().parent / _TEMPLATE
    if template.is_file():
        digest.update(template.read_bytes())
    commit = digest.hexdigest()
    key = f"{path.stem}@{commit[:12]}"
    with store.lock(key):
        converter = _converter()
        for known in store.all():
            if known.commit != commit:
                continue
            if known.revision == converter:
                return known
            store.forget(known)
        store.notice(f"converting {path} (once; it is kept in {store.root})")
        target = store.root / plain(key)
        partial = target.with_name(f"{target.name}.partial")
        for directory in (target, partial):
            shutil.rmtree(directory, ignore_errors=True)
        try:
            licence = _convert(path.resolve(), partial)
        except Exception as cause:  # gguf and transformers have no exceptions of their own for what they cannot read.
            shutil.rmtree(partial, ignore_errors=True)
            if isinstance(cause, EngineError):
                raise
            if is_disk_full(cause):
                raise disk_full(
                    f"The disk is full: {path} could not be converted in {store.root}.", "MRLM_CACHE"
                ) from cause
            reason = f"{type(cause).__name__}: {(str(cause).splitlines() or [''])[0]}"
            raise _invalid(f"{path} could not be converted: {reason}.", _OTHER_SOURCE) from cause
        partial.rename(target)
        files = {file.name: file.stat().st_size for file in target.iterdir()}
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return store.write(StoredModel(path.stem, converter, commit, licence, str(target), files, now))


_OTHER_SOURCE = "Download it again; or take the model that it was made from, by `hub: ORG/NAME` or as a directory."


def _converter() -> str:
    """Returns what identifies this converter: another one may write other weights or another tokenizer."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(version("transformers").encode())
    return digest.hexdigest()[:12]


def _convert(path: Path, target: Path) -> str:
    """Writes the model and its tokenizer, and compares them with the file. Returns the licence that the file states."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.integrations.gguf.reader import read_gguf_metadata
    from transformers.utils import is_gguf_available

    if not is_gguf_available():  # An environment of the user's own.
        raise EngineError(
            "MODEL_DOWNLOAD_FAILED",
            "The engine's Python environment has no package `gguf`, which reads GGUF files.",
            "Install it there, or unset MRLM_ENGINE_PYTHON and run `mrlm engine setup`.",
        )
    fields, _ = read_gguf_metadata(str(path))
    if fields.get("split.count", 1) > 1:
        raise _invalid(
            f"{path} is one of {fields['split.count']} parts.",
            "Join them first: `llama-gguf-split --merge FIRST JOINED`.",
        )
    template = path.parent / _TEMPLATE
    if "tokenizer.chat_template" not in fields and not template.is_file():
        raise _invalid(
            f"{path} has no chat template.",
            f"Take a GGUF file of the instruction-tuned model, or write the template into {template}.",
        )
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    if template.is_file():
        tokenizer.chat_template = template.read_text("utf-8")
    _settle_split(path, tokenizer, fields)
    loaded = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    check_disk(target.parent, 4 * loaded.num_parameters(), "MRLM_CACHE")
    _save_model(loaded, tokenizer, target)
    _save_tokenizer(tokenizer, target)
    _probe(path, loaded, tokenizer, target)
    return str(fields.get("general.license", "unknown"))


def _settle_split(path: Path, tokenizer: Any, fields: Mapping[str, Any]) -> None:
    """Sets the split of texts before merges, which transformers does for some of the names in GGUF files only."""
    from tokenizers import pre_tokenizers
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    name = fields.get("tokenizer.ggml.pre")
    if fields.get("tokenizer.ggml.model") != "gpt2" or name in GGUF_PRE_TOKENIZER_SPLITS or name in _SPLIT_OF_GPT2:
        return
    if name not in _SPLIT_WITH_DIGITS:
        raise _invalid(f"{path} splits texts by the rule '{name}', which transformers does not know.", _OTHER_SOURCE)
    digits, words = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])


def _save_model(loaded: Any, tokenizer: Any, target: Path) -> None:
    """Saves the weights. transformers refuses to save a model that it read from GGUF, so another one takes them."""
    import torch

    settings = {key: value for key, value in loaded.config.to_dict().items() if key not in _DROPPED}
    with torch.device("meta"):
        model = type(loaded)(type(loaded.config)(**settings))
    model.load_state_dict(loaded.state_dict(), assign=True)
    model.tie_weights()
    ends = [loaded.config.eos_token_id, tokenizer.eos_token_id, *_turn_markers(tokenizer)[-1:]]
    flat = [each for end in ends for each in (end if isinstance(end, list) else [end]) if each is not None]
    model.generation_config.eos_token_id = sorted(set(flat))
    model.save_pretrained(target)


def _turn_markers(tokenizer: Any) -> list[int]:
    """Returns the added tokens that begin a conversation and end an answer in the chat template, the end last."""
    turns = [{"role": "user", "content": _MARK}, {"role": "assistant", "content": _MARK}]
    text = tokenizer.apply_chat_template(turns, tokenize=False)
    begin, end = text.partition(_MARK)[0], text.rpartition(_MARK)[2].strip()
    added = tokenizer.added_tokens_decoder
    markers = [id for id in tokenizer(begin, add_special_tokens=False)["input_ids"] if id in added]
    last = tokenizer(end, add_special_tokens=False)["input_ids"][:1]
    return [*(id for id in markers if added[id].content.strip()), *(id for id in last if id in added)]


def _save_tokenizer(tokenizer: Any, target: Path) -> None:
    """Saves the tokenizer. Markers of turns become special: in GGUF files they may be words, which users may write."""
    tokenizer.save_pretrained(target)
    path = target / "tokenizer.json"
    saved = json.loads(path.read_text("utf-8"))
    markers = _turn_markers(tokenizer)
    for token in saved["added_tokens"]:
        token["special"] = token["special"] or token["id"] in markers
    path.write_text(json.dumps(saved, ensure_ascii=False), "utf-8")


def _probe(path: Path, loaded: Any, tokenizer: Any, target: Path) -> None:
    """Compares the saved model with the file's, and both with what a model and a tokenizer can be expected to do."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    saved_tokenizer = AutoTokenizer.from_pretrained(target)
    for text in (_TEXT, _CHARACTERS):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        if saved_tokenizer.decode(ids, clean_up_tokenization_spaces=False) != text:
            raise _invalid(f"The tokenizer of {path} changes a text: {saved_tokenizer.decode(ids)!r}.", _OTHER_SOURCE)
        if saved_tokenizer(text, add_special_tokens=False)["input_ids"] != ids:
            raise _invalid(f"The saved tokenizer of {path} gives other tokens.", _OTHER_SOURCE)
    tokens = tokenizer(_TEXT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = loaded(input_ids=tokens).logits[0].float()
        saved = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32).eval()
        difference = (saved(input_ids=tokens).logits[0] - logits).abs().max().item()
        nats = torch.nn.functional.cross_entropy(logits[:-1], tokens[0, 1:]).item()
    if not difference == 0:
        raise _invalid(f"The converted model computes other logits than {path}: {difference} apart.", _OTHER_SOURCE)
    if not nats < _CHANCE * math.log(logits.shape[1]):
        raise _invalid(
            f"The model of {path} predicts an English text with {nats:.1f} nats a token, hardly better than by chance: "
            "its weights were read wrongly, or are random.",
            _OTHER_SOURCE,
        )


def _invalid(message: str, hint: str) -> EngineError:
    return EngineError("MODEL_DIRECTORY_INVALID", message, hint)
