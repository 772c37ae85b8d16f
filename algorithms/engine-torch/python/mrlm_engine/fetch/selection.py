"""Choice of the files of a repository, and checks of its model before the weights are downloaded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrlm_engine.errors import EngineError
from mrlm_engine.tokenizer_names import TEMPLATE_FOLDER, TOKENIZER_FILE_NAMES

_ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
# Ends of the names of classes that generate text from left to right, in `architectures`.
_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_SMALL = (*TOKENIZER_FILE_NAMES, "config.json", "generation_config.json", _ADAPTER[0])


@dataclass(frozen=True)
class Selection:
    """Names of the files to download. Code, pickles and other formats of the same weights are none of them."""

    small: list[str]
    # Names of the files with weights; empty if the index names them.
    weights: list[str]
    # Name of the index of shards, which is one of `small`; empty without shards.
    index: str

    @staticmethod
    def of(repository: str, names: Iterable[str]) -> Selection:
        """Chooses among the files of a repository."""
        names = set(names)
        small = sorted(
            name
            for name in names
            if name in _SMALL
            or name.upper().startswith(("LICENSE", "LICENCE"))
            or (name.startswith(f"{TEMPLATE_FOLDER}/") and name.endswith(".jinja"))
        )
        if set(_ADAPTER) <= names:
            return Selection(small, [_ADAPTER[1]], "")
        if "config.json" not in names:
            raise _unsuitable(f"{repository} has no config.json: {_kind(names)}", _advice(names))
        if _WEIGHTS in names:
            return Selection(small, [_WEIGHTS], "")
        if _INDEX in names:
            return Selection([*small, _INDEX], [], _INDEX)
        raise _unsuitable(f"{repository} has no weights as safetensors: {_kind(names)}", _advice(names))


def shards_of(repository: str, index: Path, names: Iterable[str]) -> list[str]:
    """Returns the names of the shards in an index. Each must be a file of the repository."""
    weight_map = _read(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise _unsuitable(f"{index.name} of {repository} names no shards.", "Choose another revision.")
    shards = sorted({str(name) for name in weight_map.values()})
    lacking = sorted(set(shards) - set(names))
    if lacking:
        raise _unsuitable(
            f"{repository} lacks {lacking[0]}, which its {index.name} names.",
            "The upload is incomplete: choose another revision, or ask its authors.",
        )
    return shards


def check_model(repository: str, paths: Mapping[str, Path]) -> None:
    """Refuses a model that mrlm cannot train, before its weights are downloaded. Of an adapter the base is checked."""
    if _ADAPTER[0] in paths:
        return
    import transformers
    from transformers.models.auto.auto_mappings import CONFIG_MAPPING_NAMES

    config = _read(paths["config.json"])
    kind = config.get("model_type")
    version = transformers.__version__
    if kind not in CONFIG_MAPPING_NAMES:
        if "auto_map" in config:
            raise _unsuitable(
                f"{repository} needs Python code of its own ({config['auto_map']}), and mrlm runs none of it.",
                "Choose a model that transformers has the code of.",
            )
        raise _unsuitable(
            f"{repository} is of type {kind!r}, which transformers {version} does not know.",
            "Choose another model, or a version of mrlm with a newer transformers.",
        )
    # The table of transformers would import torch, which takes seconds. Loading the model reads it.
    if not any(name.endswith(_CAUSAL) for name in config.get("architectures") or _CAUSAL):
        raise _unsuitable(
            f"{repository} is of type {kind!r}, which generates no text from left to right.",
            "Choose a causal language model (`text-generation` on the hub).",
        )
    method = (config.get("quantization_config") or {}).get("quant_method")
    if method is not None:
        raise _unsuitable(
            f"The weights of {repository} are quantised ({method}), and quantised weights cannot be trained.",
            "Choose the repository with the weights in bfloat16, float16 or float32.",
        )
    if "tokenizer.json" not in paths:
        raise _unsuitable(
            f"{repository} has no tokenizer.json.",
            "AutoTokenizer.from_pretrained(...).save_pretrained(DIRECTORY) of transformers writes one: download the "
            "repository, add it there, and name the directory as `model.path`.",
        )
    if not _has_template(paths):
        raise _unsuitable(
            f"{repository} has no chat template, so that conversations cannot become its prompts.",
            "Choose its instruction-tuned form (often NAME-Instruct or NAME-it). Or download the repository, write a "
            "chat_template.jinja there, and name the directory as `model.path`.",
        )


def _has_template(paths: Mapping[str, Path]) -> bool:
    if "chat_template.jinja" in paths:
        return True
    settings = paths.get("tokenizer_config.json")
    return settings is not None and bool(_read(settings).get("chat_template"))


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as cause:
        raise _unsuitable(
            f"{path.name} is not JSON: {cause}.", "Choose another revision, or ask its authors."
        ) from cause
    if not isinstance(value, dict):
        raise _unsuitable(f"{path.name} is not a JSON object.", "Choose another revision, or ask its authors.")
    return value


def _kind(names: set[str]) -> str:
    kinds = {
        ".gguf": "it has GGUF files.",
        ".bin": "it has pickles (*.bin), which can run code when they are read.",
        ".safetensors": "its safetensors files have other names than those of transformers.",
    }
    return next((text for ending, text in kinds.items() if any(n.endswith(ending) for n in names)), "it is no model.")


def _advice(names: set[str]) -> str:
    if any(name.endswith(".gguf") for name in names):
        return "Download a GGUF file, and name it as `model.gguf`; or choose the repository that it was made from."
    return "Choose another repository, or a revision with safetensors (some have one as refs/pr/N)."


def _unsuitable(message: str, hint: str) -> EngineError:
    return EngineError("MODEL_DIRECTORY_INVALID", message, hint)
