"""Writes a model as an ordinary Hugging Face directory."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from mrlm_engine.checkpoint.directory import EXPORT_LIST, atomic_directory
from mrlm_engine.distributed.collectives import is_leader
from mrlm_engine.models.create import VALUE_HEAD_FILE
from mrlm_engine.models.held import HeldModel
from mrlm_engine.models.lora import adapter_layers, adapter_tensors, write_adapter
from mrlm_engine.models.tokenizer_files import write_tokenizer_files
from mrlm_engine.models.weights import inference_weights


def export_model(held: HeldModel, target: Path, *, merge_adapter: bool) -> list[str]:
    """Writes config, safetensors and tokenizer files, and a value head or an adapter in files of their own.

    With an adapter that is not merged the base weights are written, and the adapter beside them as peft reads it.
    Returns the file names, sorted. Rank 0 writes; the others take part in gathering.
    """
    is_apart = bool(adapter_layers(held.module)) and held.adapter_off is None and not merge_adapter
    with held.lock:
        # What the other ranks take part in comes before anything that can fail on this one alone.
        adapter = adapter_tensors(held.module) if is_apart else {}
        weights = inference_weights(held, merge_adapter=merge_adapter)
        return _write(held, target, weights, adapter) if is_leader() else []


def _write(
    held: HeldModel, target: Path, weights: dict[str, torch.Tensor], adapter: dict[str, torch.Tensor]
) -> list[str]:
    with atomic_directory(target) as directory:
        held.module.save_pretrained(directory, state_dict=weights, is_main_process=True)
        if adapter:
            write_adapter(held.module, adapter, directory)
        if held.value_head is not None:
            tensors = {name: tensor.detach().cpu() for name, tensor in held.value_head.state_dict().items()}
            save_file(tensors, directory / VALUE_HEAD_FILE)
        write_tokenizer_files(held.tokenizer_files, directory)
        files = sorted(path.name for path in directory.iterdir())
        # With it the directory may be replaced by a later export.
        (directory / EXPORT_LIST).write_text(json.dumps({"format": 1, "files": files}, indent=1), "utf-8")
        return sorted([*files, EXPORT_LIST])
