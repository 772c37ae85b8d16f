"""Writes the complete state for a bit-identical resumption."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors.torch import save_file

from mrlm_engine.checkpoint.directory import atomic_directory
from mrlm_engine.checkpoint.manifest import write_manifest
from mrlm_engine.compute.collectives import is_leader
from mrlm_engine.compute.tensors import is_sharded, whole, whole_like
from mrlm_engine.device import dtype_name
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import is_factor
from mrlm_engine.models.rebuild import named_tensors
from mrlm_engine.models.tokenizer_files import write_tokenizer_files
from mrlm_engine.training.trainable_model import TrainableModel

WEIGHTS = "weights.safetensors"
AVERAGES = "averages.safetensors"
OPTIMIZER = "optimizer.safetensors"
GRADIENTS = "gradients.safetensors"
RANDOM = "random.safetensors"
CONFIG = "config.json"
TOKENIZER = "tokenizer"

Tensors: TypeAlias = dict[str, torch.Tensor]


def save_checkpoint(target: Path, trainable_models: list[TrainableModel], last_call: int) -> tuple[int, str]:
    """Writes `target`; bytes written and the manifest's checksum. They keep the order of `trainable_models`.

    Rank 0 writes; the others take part in gathering what is divided among them.
    """
    # Consumed once on every rank, also on rank 0 after a failed write, because the other ranks wait in each gathering.
    saved = [trainable.model for trainable in trainable_models]
    files = (
        (trainable, name, gather(tensors))
        for trainable in trainable_models
        for name, tensors in _tensor_files(trainable, with_base=saved_base(trainable.model, saved) is None)
    )
    try:
        return _write(target, trainable_models, files, last_call) if is_leader() else (0, "")
    finally:
        for _ in files:
            pass


def _write(
    target: Path,
    trainable_models: list[TrainableModel],
    files: Iterator[tuple[TrainableModel, str, Tensors]],
    last_call: int,
) -> tuple[int, str]:
    with atomic_directory(target) as directory:
        save_file(random_state(), directory / RANDOM)
        folders = {id(trainable): directory / "models" / str(i) for i, trainable in enumerate(trainable_models)}
        for folder in folders.values():
            folder.mkdir(parents=True)
        for trainable, name, tensors in files:
            save_file(tensors, folders[id(trainable)] / name)
        saved = [trainable.model for trainable in trainable_models]
        models = [
            {
                "folder": f"models/{i}",
                **_describe(trainable, folders[id(trainable)]),
                "shared_base": saved_base(trainable.model, saved),
            }
            for i, trainable in enumerate(trainable_models)
        ]
        return write_manifest(directory, {"last_call": last_call, "models": models})


def saved_base(model: LoadedModel, saved: list[LoadedModel]) -> str | None:
    """Returns the id of the model whose weights stand for those of `model` in a checkpoint; None if it has its own."""
    before = saved[: next(i for i, each in enumerate(saved) if each is model)]
    base = model.shared_base
    return base.model_id if base is not None and any(each is base for each in before) else None


def random_state() -> dict[str, torch.Tensor]:
    """Returns the state of torch's global generators."""
    state = {"cpu": torch.random.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def model_tensors(model: LoadedModel, *, with_base: bool = True) -> dict[str, torch.Tensor]:
    """Returns parameters and persistent buffers by name, tied ones once.

    Without the base the parameters of the module are those of its adapter.
    """
    tensors = named_tensors(model.module, "module.")
    if not with_base:
        base = {f"module.{name}" for name, _ in model.module.named_parameters() if not is_factor(name)}
        tensors = {name: tensor for name, tensor in tensors.items() if name not in base}
    if model.value_head is not None:
        tensors.update(named_tensors(model.value_head, "value_head."))
    return tensors


def _describe(trainable: TrainableModel, folder: Path) -> dict[str, Any]:
    """Writes the files of a model except tensors. Returns its entry in the manifest."""
    model = trainable.model
    (folder / CONFIG).write_text(model.config.to_json_string(use_diff=False), "utf-8")
    if model.tokenizer_files:
        (folder / TOKENIZER).mkdir()
        write_tokenizer_files(model.tokenizer_files, folder / TOKENIZER)
    return {
        "model_id": model.model_id,
        "role": int(model.role),
        "dtype": dtype_name(model.dtype),
        "trainable": model.trainable,
        "float32_head": model.float32_head,
        "gradient_checkpointing": model.gradient_checkpointing,
        "micro_batch_tokens": model.micro_batch_tokens,
        "lora": model.lora,
        "adapter_off": None if model.adapter_off is None else model.adapter_off.model_id,
        "value_head": model.value_head is not None,
        "step": model.step,
        # A sampler created after Load has the trainer's weights. The client records whether they were published.
        "version": model.version,
        "accumulated_calls": trainable.accumulated_calls,
        "loss_scale": None if trainable.loss_scale is None else dataclasses.asdict(trainable.loss_scale),
    }


def _tensor_files(
    trainable: TrainableModel, *, with_base: bool
) -> Iterator[tuple[str, Iterable[tuple[str, torch.Tensor]]]]:
    """Yields the contents of each file, in the same order on every rank."""
    model = trainable.model
    with model.lock:
        if model.adapter_off is None:
            yield WEIGHTS, _stored_weights(model, with_base=with_base)
        if model.averages:
            places = named_tensors(model.module)
            yield AVERAGES, ((name, whole_like(kept, places[name])) for name, kept in model.averages.items())
        if model.trainable:
            yield OPTIMIZER, trainable.optimizer.state()
            yield GRADIENTS, ((name, gradient) for name, _, gradient in trainable.gradients.tensors())


def _stored_weights(model: LoadedModel, *, with_base: bool) -> Iterator[tuple[str, torch.Tensor]]:
    """Returns weights in the model's format. Float32 copies of sharded weights are part of the optimizer state."""
    for name, tensor in model_tensors(model, with_base=with_base).items():
        yield name, tensor.to(model.dtype) if is_sharded(tensor) and tensor.is_floating_point() else tensor


def gather(tensors: Iterable[tuple[str, torch.Tensor]]) -> Tensors:
    """Gathers whole tensors on the CPU of rank 0. Other ranks discard them."""
    kept = {}
    for name, tensor in tensors:
        complete = whole(tensor.detach())
        if is_leader():
            kept[name] = complete.cpu().contiguous()
    return kept
