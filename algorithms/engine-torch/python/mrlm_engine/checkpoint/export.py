"""Writes a model as an ordinary Hugging Face directory."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from mrlm_engine.checkpoint.directory import EXPORT_LIST, atomic_directory
from mrlm_engine.compute.collectives import is_leader
from mrlm_engine.models.create import VALUE_HEAD_FILE
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import adapter_layers, is_factor
from mrlm_engine.models.saved_adapter import write_adapter
from mrlm_engine.models.tokenizer_files import write_tokenizer_files
from mrlm_engine.models.weights import LORA_SCALE, inference_weights, merged_weights
from mrlm_engine.sampling.published import PublishedWeights

# File that lists the files of an exported model.
ADAPTER_DIRECTORY = "adapter"


def export_model(model: LoadedModel, target: Path, *, merge_adapter: bool) -> list[str]:
    """Writes config, safetensors and tokenizer files, and a value head in a separate file.

    A model with an adapter is written with W + s B A in float32 if `merge_adapter`, else with W. In both cases the
    adapter is in `adapter/` in the format of peft: beside the weights, transformers would apply it to them.
    Returns the paths of the files in `target`, sorted. Rank 0 writes; the other ranks take part in gathering.
    """
    merges = merge_adapter and model.has_adapter
    with model.lock:
        # The other ranks take part in gathering. It comes before operations that can fail on this rank only.
        weights = merged_weights(model) if merges else _base_weights(model)
        return _write(model, target, weights, is_float32=merges) if is_leader() else []


def export_published(model: LoadedModel, weights: PublishedWeights, target: Path, *, untied: bool) -> list[str]:
    """Writes published weights as a directory of their own; an adapter is merged in float32.

    With `untied` the head is a tensor of its own, whether or not the model ties it to the embedding.
    """
    copies = weights.copies()
    tensors: dict[str, torch.Tensor] = {}
    for name, _, same_as in weights.unique():
        tensors[name] = (
            tensors[same_as].clone() if same_as and untied else tensors[same_as] if same_as else next(copies)
        )
    if model.has_adapter:
        scale, layers = float(tensors.pop(LORA_SCALE)), adapter_layers(model.module)
        factors = {name: tensors.pop(name).float() for name in list(tensors) if is_factor(name)}
        for name, factor in factors.items():
            if ".lora_A." in name:
                layer = name.removesuffix(".lora_A.weight")
                delta = scale * (factors[f"{layer}.lora_B.weight"] @ factor)
                weight = tensors[f"{layer}.weight"].float()
                tensors[f"{layer}.weight"] = weight + (delta.T if layers[layer].fan_in_fan_out else delta)
        tensors = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
    with atomic_directory(target) as directory:
        if untied:
            save_file(
                {name: tensor.contiguous() for name, tensor in tensors.items()},
                directory / "model.safetensors",
                {"format": "pt"},
            )
            model.config.save_pretrained(directory)
            names = {"architectures": [type(model.module).__name__], "tie_word_embeddings": False}
            _change_config(directory / "config.json", names)
            if getattr(model.module, "generation_config", None) is not None:
                model.module.generation_config.save_pretrained(directory)
        else:
            model.module.save_pretrained(directory, state_dict=tensors, is_main_process=True)
        if model.has_adapter:
            _name_dtype(directory / "config.json", "float32")
        write_tokenizer_files(model.tokenizer_files, directory)
        return _list_files(directory)


def _base_weights(model: LoadedModel) -> dict[str, torch.Tensor]:
    return {
        name: tensor for name, tensor in inference_weights(model).items() if name != LORA_SCALE and not is_factor(name)
    }


def _write(model: LoadedModel, target: Path, weights: dict[str, torch.Tensor], *, is_float32: bool) -> list[str]:
    with atomic_directory(target) as directory:
        model.module.save_pretrained(directory, state_dict=weights, is_main_process=True)
        if is_float32:
            _name_dtype(directory / "config.json", "float32")
        if model.has_adapter:
            write_adapter(model.module, directory / ADAPTER_DIRECTORY)
        if model.value_head is not None:
            tensors = {name: tensor.detach().cpu() for name, tensor in model.value_head.state_dict().items()}
            save_file(tensors, directory / VALUE_HEAD_FILE)
        write_tokenizer_files(model.tokenizer_files, directory)
        return _list_files(directory)


def _list_files(directory: Path) -> list[str]:
    """Writes the list of files, which permits a later export to replace the directory."""
    files = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    (directory / EXPORT_LIST).write_text(json.dumps({"format": 1, "files": files}, indent=1), "utf-8")
    return sorted([*files, EXPORT_LIST])


def _change_config(file: Path, fields: dict[str, object]) -> None:
    config = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**config, **fields}, indent=2) + "\n", "utf-8")


def _name_dtype(file: Path, dtype: str) -> None:
    """Sets the number format of a configuration, because transformers writes the format of the module."""
    config = json.loads(file.read_text("utf-8"))
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]
    for part in parts:
        part.update({key: dtype for key in ("dtype", "torch_dtype") if part.get(key) is not None})
    file.write_text(json.dumps(config, indent=2) + "\n", "utf-8")
