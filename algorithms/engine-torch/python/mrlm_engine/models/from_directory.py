"""A model from a Hugging Face directory on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from mrlm_engine.errors import EngineError
from mrlm_engine.models.attention import LOCAL, foreign_implementation
from mrlm_engine.models.randomness import remove_randomness

_HINT = "A model directory holds config.json and *.safetensors, as save_pretrained writes them."


def check_directory(directory: str, *, needs_weights: bool = True) -> Path:
    """Returns the path of a model directory after a check for a readable configuration and weights."""
    path = Path(directory)
    if not path.is_dir():
        raise EngineError(
            "MODEL_DIRECTORY_MISSING",
            f"There is no directory '{directory}' on the engine's machine.",
            "Give the path of a Hugging Face model directory; the engine downloads nothing.",
        )
    config_file = path / "config.json"
    if (path / "adapter_config.json").is_file():
        # transformers would silently apply it, and the sampler would ignore it.
        raise EngineError(
            "MODEL_DIRECTORY_INVALID",
            f"'{directory}' holds an adapter (adapter_config.json).",
            "Name the directory of its base model as the model, and an adapter's own directory as `model.lora.path`.",
        )
    if not config_file.is_file():
        raise EngineError("MODEL_DIRECTORY_INVALID", f"'{directory}' holds no config.json.", _HINT)
    try:
        config = json.loads(config_file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as cause:
        raise EngineError(
            "MODEL_DIRECTORY_INVALID", f"'{config_file}' is not readable JSON: {cause}.", _HINT
        ) from cause
    if not isinstance(config, dict) or "model_type" not in config:
        raise EngineError("MODEL_DIRECTORY_INVALID", f"'{config_file}' names no model_type.", _HINT)
    foreign = foreign_implementation(config)
    if foreign:
        raise EngineError(
            "MODEL_DIRECTORY_INVALID",
            f"'{config_file}' asks for {foreign}, which is not part of torch or transformers and would be downloaded.",
            f"Take it out of config.json, or name one of: {', '.join(LOCAL)}.",
        )
    # Opening a named pipe would block until another process writes into it.
    if any(not file.is_file() for file in path.glob("*.safetensors")):
        raise EngineError("MODEL_DIRECTORY_INVALID", f"A *.safetensors of '{directory}' is no file.", _HINT)
    if needs_weights and not any(path.glob("*.safetensors")):
        raise EngineError("MODEL_DIRECTORY_INVALID", f"'{directory}' holds no *.safetensors file.", _HINT)
    return path


def load_module(path: Path, dtype: torch.dtype) -> Any:
    """Reads the causal language model in `path`, on CPU. Missing, additional and misshapen weights are errors."""
    try:
        config = AutoConfig.from_pretrained(str(path), local_files_only=True, trust_remote_code=False)
        module, loading = AutoModelForCausalLM.from_pretrained(
            str(path),
            config=remove_randomness(config),
            dtype=dtype,
            local_files_only=True,
            trust_remote_code=False,
            # Weights in other formats are pickles, which can run code.
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as cause:  # Each library below has its own exceptions for what it cannot read.
        raise EngineError(
            "MODEL_DIRECTORY_INVALID", f"'{path}' could not be loaded: {_first_line(cause)}.", _HINT
        ) from cause
    missing = sorted(loading.get("missing_keys", ()))
    mismatched = sorted(str(key) for key in loading.get("mismatched_keys", ()))
    if missing or mismatched:
        faults = [f"missing {missing[:3]}"] if missing else []
        faults += [f"of another shape {mismatched[:3]}"] if mismatched else []
        raise EngineError(
            "MODEL_DIRECTORY_INVALID",
            f"'{path}' lacks weights that its configuration asks for: {', '.join(faults)}.",
            "Write the directory again, or correct config.json.",
        )
    unexpected = sorted(loading.get("unexpected_keys", ()))
    if unexpected:
        raise EngineError(
            "MODEL_DIRECTORY_INVALID",
            f"'{path}' holds {len(unexpected)} weights that its configuration has no place for: {unexpected[:3]}.",
            "Without them it would be another model. Correct config.json (a bias, an adapter, or layers that it leaves "
            "out), or delete these weights from the files.",
        )
    return module


def _first_line(cause: BaseException) -> str:
    lines = str(cause).strip().splitlines()
    return (lines[0] if lines else type(cause).__name__).rstrip(".")
