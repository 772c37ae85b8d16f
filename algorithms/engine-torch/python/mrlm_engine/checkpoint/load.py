"""Restores a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from mrlm_engine.checkpoint.manifest import read_manifest
from mrlm_engine.checkpoint.save import (
    AVERAGES,
    CONFIG,
    GRADIENTS,
    OPTIMIZER,
    RANDOM,
    TOKENIZER,
    WEIGHTS,
    model_tensors,
)
from mrlm_engine.compute.out_of_memory import first_line, is_out_of_memory
from mrlm_engine.compute.tensors import part, part_of
from mrlm_engine.device import DTYPES
from mrlm_engine.errors import EngineError
from mrlm_engine.gradients.loss_scale import LossScale
from mrlm_engine.models.create import copy_of_module, prepare_module
from mrlm_engine.models.from_config import parse_config
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import is_factor
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.rebuild import empty_module, named_tensors
from mrlm_engine.models.value_head import ValueHead
from mrlm_engine.training.trainable_model import TrainableModel


@dataclass(frozen=True)
class RestoredModel:
    """A model, and the state of its trainable model: optimizer state and accumulated gradients by name."""

    model: LoadedModel
    optimizer: dict[str, torch.Tensor]
    gradients: dict[str, torch.Tensor]
    accumulated_calls: int
    loss_scale: LossScale | None = None
    # Float32 averages, whole.
    averages: dict[str, torch.Tensor] = field(default_factory=dict)

    def restore(self, trainable: TrainableModel) -> None:
        """Restores the state in a new trainable model."""
        places = named_tensors(self.model.module) if self.averages else {}
        for name, kept in self.averages.items():
            place = places[name]
            self.model.averages[name] = part_of(kept, place).to(part(place).device, copy=True)
        if not self.model.trainable:
            return
        trainable.optimizer.restore(self.optimizer)
        trainable.gradients.restore(self.gradients)
        trainable.accumulated_calls = self.accumulated_calls
        if self.loss_scale is not None:
            trainable.loss_scale = self.loss_scale


@dataclass(frozen=True)
class Checkpoint:
    """Contents of a checkpoint. Reading it has not changed the engine."""

    models: list[RestoredModel]
    last_call: int
    random: dict[str, torch.Tensor]

    def restore_random_state(self) -> None:
        """Sets torch's global generators."""
        torch.random.set_rng_state(self.random["cpu"])
        if "cuda" in self.random and torch.cuda.is_available():
            torch.cuda.set_rng_state(self.random["cuda"])


def load_checkpoint(directory: Path, placement: Placement, changes: dict[str, Any]) -> Checkpoint:
    """Reads a checkpoint after a check that it is complete. `changes` override a model's entry in the manifest."""
    manifest = read_manifest(directory)
    models: list[RestoredModel] = []
    try:
        for saved in manifest["models"]:
            entry = {**saved, **changes}
            models.append(_load_model(directory / entry["folder"], entry, [m.model for m in models], placement))
        random = load_file(directory / RANDOM)
        return Checkpoint(models, int(manifest["last_call"]), {"cpu": random["cpu"], **random})
    except (OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as cause:
        if is_out_of_memory(cause):
            raise
        # The files match the manifest, so another version of the engine or a user wrote this manifest.
        raise EngineError(
            "CHECKPOINT_MISMATCH",
            f"'{directory}' cannot be restored: {type(cause).__name__}: {first_line(cause)}.",
            "Load it with the versions of mrlm, torch and transformers that saved it.",
        ) from cause


def _owner_of_weights(entry: dict[str, Any], owner: str | None, before: list[LoadedModel]) -> LoadedModel | None:
    """Returns the earlier model whose weights the model of an entry reads; None for a model with its own."""
    if owner is None:
        return None
    for model in before:
        if model.model_id == owner:
            return model
    raise EngineError(
        "CHECKPOINT_INCOMPLETE",
        f"'{entry['model_id']}' reads the weights of '{owner}', which was not saved with it.",
        "Save both models together.",
    )


def _load_model(folder: Path, entry: dict[str, Any], before: list[LoadedModel], placement: Placement) -> RestoredModel:
    device = placement.build_device
    tokenizer = folder / TOKENIZER
    paths = sorted(path for path in tokenizer.rglob("*") if path.is_file())
    files = {path.relative_to(tokenizer).as_posix(): path.read_bytes() for path in paths}
    base = _owner_of_weights(entry, entry["adapter_off"], before)
    # Absent in checkpoints of older versions.
    shared_base = _owner_of_weights(entry, entry.get("shared_base"), before)
    module = base.module if base is not None else _module(folder, entry, device, shared_base)
    model = LoadedModel(
        model_id=entry["model_id"],
        role=entry["role"],
        module=module,
        config=module.config,
        dtype=DTYPES[entry["dtype"]],
        device=device,
        tokenizer_files=files,
        step=entry["step"],
        version=entry["version"],
        trainable=entry["trainable"],
        float32_head=entry["float32_head"],
        gradient_checkpointing=entry["gradient_checkpointing"],
        micro_batch_tokens=entry["micro_batch_tokens"],
        lora=entry["lora"],
        mesh=placement.mesh,
        adapter_off=base,
        # Ranks divide the weights of each model.
        shared_base=None if placement.mesh is not None else shared_base,
    )
    if base is not None:
        model.lock = base.lock
        return RestoredModel(model, {}, {}, 0)
    if entry["value_head"]:
        model.value_head = ValueHead(int(module.config.hidden_size), device)
        model.value_head.requires_grad_(model.trainable)
    _load_weights(model, load_file(folder / WEIGHTS), with_base=shared_base is None)
    optimizer = load_file(folder / OPTIMIZER) if model.trainable else {}
    gradients = load_file(folder / GRADIENTS) if model.trainable else {}
    # Absent in checkpoints of older versions.
    scale = entry.get("loss_scale")
    loss_scale = None if scale is None else LossScale(**scale)
    averages = load_file(folder / AVERAGES) if (folder / AVERAGES).is_file() else {}
    return RestoredModel(model, optimizer, gradients, int(entry["accumulated_calls"]), loss_scale, averages)


def _module(folder: Path, entry: dict[str, Any], device: torch.device, shared_base: LoadedModel | None) -> Any:
    """Creates the module of the saved configuration, without its weights except those of a shared base."""
    if shared_base is not None:
        module = copy_of_module(shared_base)
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(bool(entry["trainable"]) and is_factor(name))
        return module.eval()
    config = parse_config((folder / CONFIG).read_text("utf-8"))
    module = empty_module(config, DTYPES[entry["dtype"]], entry["lora"])
    has_adapter = entry["lora"] is not None
    return prepare_module(module, device, trainable=entry["trainable"], has_adapter=has_adapter)


@torch.no_grad()
def _load_weights(model: LoadedModel, tensors: dict[str, torch.Tensor], *, with_base: bool) -> None:
    """Fills parameters and buffers. Saved tensors and tensors of the module must have the same names."""
    places = model_tensors(model, with_base=with_base)
    if places.keys() != tensors.keys():
        odd = sorted(places.keys() ^ tensors.keys())[:3]
        raise EngineError(
            "CHECKPOINT_MISMATCH",
            f"The weights of '{model.model_id}' do not fit its configuration: {odd}.",
            "Load it with the versions of torch and transformers that saved it.",
        )
    for name, place in places.items():
        place.copy_(tensors[name])
