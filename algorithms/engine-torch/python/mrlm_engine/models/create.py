"""Creates a model from the source in CreateModel."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from mrlm_engine.compute.tensors import whole
from mrlm_engine.device import choose_dtype
from mrlm_engine.errors import EngineError
from mrlm_engine.models.attention import settle_attention
from mrlm_engine.models.from_config import random_module
from mrlm_engine.models.from_directory import check_directory, load_module
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import inject_adapter, is_factor
from mrlm_engine.models.lora_settings import lora_settings
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.rebuild import empty_module, named_tensors
from mrlm_engine.models.registry import ModelRegistry
from mrlm_engine.models.request import AdapterOff, CopyOf, FromDirectory, FromRandom, ModelRequest, Role
from mrlm_engine.models.tokenizer_files import check_tokenizer_files, read_tokenizer_files
from mrlm_engine.models.value_head import ValueHead

VALUE_HEAD_FILE = "value_head.safetensors"


def create_model(request: ModelRequest, registry: ModelRegistry, placement: Placement) -> LoadedModel:
    """Creates the model and adds it to `registry`. Checks the whole request first."""
    registry.check_new(request.model_id)
    source = request.source
    if source is None:
        raise EngineError(
            "MESSAGE_INVALID",
            f"CreateModel for '{request.model_id}' names no source.",
            "Set one of: directory, random, copy_of, adapter_off.",
        )
    if isinstance(source, AdapterOff):
        model = _adapter_off(request, registry.get(source.model_id))
    elif isinstance(source, CopyOf):
        model = _copy(request, registry.get(source.model_id))
    else:
        model = _from_weights(request, source, choose_dtype(request.dtype, placement.device), placement)
    registry.add(model)
    return model


def _from_weights(
    request: ModelRequest, source: FromDirectory | FromRandom, dtype: torch.dtype, placement: Placement
) -> LoadedModel:
    device = placement.build_device
    lora, saved = lora_settings(request)
    if isinstance(source, FromDirectory):
        path = check_directory(source.path)
        module = load_module(path, dtype)
        tokenizer_files = read_tokenizer_files(path)
    else:
        tokenizer_files = check_tokenizer_files(dict(source.tokenizer_files))
        module = random_module(source.config_json, source.seed, dtype)
    if saved is not None:
        saved.check_fits(module)
    if lora is not None:
        inject_adapter(module, lora)
    if saved is not None:
        saved.fill(module)
    model = LoadedModel(
        model_id=request.model_id,
        role=request.role,
        module=prepare_module(module, device, trainable=request.trainable, has_adapter=lora is not None),
        config=module.config,
        dtype=dtype,
        device=device,
        tokenizer_files=tokenizer_files,
        trainable=request.trainable,
        float32_head=request.float32_head,
        gradient_checkpointing=request.gradient_checkpointing,
        micro_batch_tokens=request.micro_batch_tokens,
        lora=lora,
        mesh=placement.mesh,
    )
    if request.value_head or request.role in (Role.CRITIC, Role.REWARD):
        model.value_head = ValueHead(int(module.config.hidden_size), device)
        model.value_head.requires_grad_(request.trainable)
        if isinstance(source, FromDirectory):
            _load_value_head(model, source.path)
    return model


def prepare_module(module: Any, device: torch.device, *, trainable: bool, has_adapter: bool) -> Any:
    """Moves a module to its device. A trainable module without an adapter then requires gradients."""
    module = module.to(device)
    if not has_adapter or not trainable:
        module.requires_grad_(trainable)
    module.eval()
    settle_attention(module)
    return module


def _copy(request: ModelRequest, original: LoadedModel) -> LoadedModel:
    """Copies the current weights of another model. A trainable copy trains the same weights as the original."""
    if request.lora is not None:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{request.model_id}' is a copy of '{original.model_id}' and was asked for with an adapter of its own.",
            "Leave `lora` out: a copy has the adapter of its original.",
        )
    if original.adapter_off is not None:
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{original.model_id}' holds no weights of its own that '{request.model_id}' could be a copy of.",
            f"Create it with `adapter_off` of '{original.adapter_off.model_id}', or from the directory of the weights.",
        )
    if request.value_head and original.value_head is None and not request.trainable:
        raise EngineError(
            "VALUE_HEAD_MISSING",
            f"'{original.model_id}' has no value head that '{request.model_id}' could be a copy of.",
            "Create the original with `value_head`, or the copy without.",
        )
    shared_base = (original.shared_base or original) if shares_base(original) else None
    with original.lock:
        module = copy_of_module(original)
        value_head = copy.deepcopy(original.value_head)
    for parameter in module.parameters():
        parameter.grad = None
    module.requires_grad_(False)
    if request.trainable:
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(original.lora is None or is_factor(name))
        if value_head is None and (request.value_head or request.role == Role.CRITIC):
            value_head = ValueHead(int(module.config.hidden_size), module.device)
    if value_head is not None:
        value_head.requires_grad_(request.trainable)
        value_head.zero_grad(set_to_none=True)
    return LoadedModel(
        model_id=request.model_id,
        role=request.role,
        module=module.eval(),
        config=module.config,
        dtype=original.dtype,
        device=module.device,
        value_head=value_head,
        tokenizer_files=original.tokenizer_files,
        # A trainable copy counts its own steps.
        step=0 if request.trainable else original.step,
        version=0 if request.trainable else original.version,
        trainable=request.trainable,
        float32_head=request.float32_head or original.float32_head,
        gradient_checkpointing=request.gradient_checkpointing or original.gradient_checkpointing,
        micro_batch_tokens=request.micro_batch_tokens or original.micro_batch_tokens,
        lora=original.lora,
        mesh=original.mesh,
        shared_base=shared_base,
    )


def shares_base(original: LoadedModel) -> bool:
    """Whether copies of a model share its weights, which training leaves as they are, and have only adapters."""
    return original.has_adapter and original.mesh is None


@torch.no_grad()
def copy_of_module(original: LoadedModel) -> Any:
    """Copies a module. Where copies share the weights, only the adapter is copied."""
    if original.mesh is None:
        own = shares_base(original)
        shared = {id(p): p for name, p in original.module.named_parameters() if own and not is_factor(name)}
        return copy.deepcopy(original.module, shared)
    module = empty_module(original.config, original.dtype, original.lora)
    places = named_tensors(module)
    for name, tensor in named_tensors(original.module).items():
        places[name].copy_(whole(tensor))
    return module


def _adapter_off(request: ModelRequest, base: LoadedModel) -> LoadedModel:
    if base.lora is None:
        raise EngineError(
            "LORA_UNAVAILABLE",
            f"Model '{base.model_id}' has no adapter that could be switched off.",
            "Create it with `lora`, or use copy_of for a frozen copy.",
        )
    return LoadedModel(
        model_id=request.model_id,
        role=request.role,
        module=base.module,
        config=base.config,
        dtype=base.dtype,
        device=base.device,
        tokenizer_files=base.tokenizer_files,
        lock=base.lock,
        float32_head=base.float32_head,
        micro_batch_tokens=request.micro_batch_tokens or base.micro_batch_tokens,
        lora=base.lora,
        mesh=base.mesh,
        adapter_off=base,
    )


def _load_value_head(model: LoadedModel, directory: str) -> None:
    file = Path(directory) / VALUE_HEAD_FILE
    if model.value_head is not None and file.is_file():
        model.value_head.load_state_dict(load_file(str(file)))
    elif model.role == Role.REWARD and not model.trainable:
        # A new head is zero: every score would be 0.
        raise EngineError(
            "VALUE_HEAD_MISSING",
            f"The model in {directory} has no {VALUE_HEAD_FILE}, and so gives no scores.",
            "Name a model that reward@1 has trained.",
        )
