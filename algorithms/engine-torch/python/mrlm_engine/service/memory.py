"""The call EstimateMemory."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from mrlm_engine.backbone.choose import undivided_rows
from mrlm_engine.backbone.packed_attention import can_pack
from mrlm_engine.device import choose_dtype
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.memory.available import Available, available_memory
from mrlm_engine.memory.budget import choose_budget
from mrlm_engine.memory.estimate import sampler_lines, state_lines, total
from mrlm_engine.memory.plan import ModelPlan, Setting
from mrlm_engine.memory.shape import adapter_inputs, adapter_parameters, empty_model, model_shape
from mrlm_engine.models.from_config import parse_config, parse_random_config
from mrlm_engine.models.from_directory import check_directory
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import is_factor
from mrlm_engine.models.lora_settings import lora_settings
from mrlm_engine.models.request import AdapterOff, CopyOf, FromDirectory, FromRandom, ModelRequest
from mrlm_engine.models.tensor_parallel import check_tensor_parallel
from mrlm_engine.models.unusable import unusable_configuration
from mrlm_engine.sampling.limits import sampler_limits
from mrlm_engine.service.codec.models import model_request
from mrlm_engine.service.state import EngineState
from mrlm_engine.training.trainable_model import MAX_WAITING, default_tokens

# Length of sequences if neither the call nor the configuration limits it.
UNLIMITED_TOKENS = 4096


def estimate_memory(state: EngineState, request: pb.EstimateMemoryRequest) -> pb.EstimateMemoryResponse:
    """Estimates the memory of the models in the request, and chooses their token budget."""
    if not request.models:
        raise EngineError("MESSAGE_INVALID", "EstimateMemory names no model.", "Send what CreateModel would be sent.")
    plans: dict[str, ModelPlan] = {}
    for model in request.models:
        plans[model.model_id] = plan_model(state, model_request(model), plans)
    models = list(plans.values())
    positions = min((plan.shape.positions for plan in models if plan.shape.positions), default=0)
    sequence = min(n for n in (request.sequence_tokens or positions or UNLIMITED_TOKENS, positions) if n)
    least = min(state.ranks.everywhere(_available), key=lambda found: found.bytes)
    mesh = state.placement.mesh
    setting = Setting(
        device=state.device.device.type,
        sequence_tokens=sequence,
        concurrency=request.concurrency,
        sampled_models=frozenset(request.sampled_models),
        ranks=state.ranks.size,
        ranks_of_weights=mesh.data * mesh.context if mesh is not None and mesh.divides else 1,
        context=1 if mesh is None else mesh.context,
        tensor=1 if mesh is None else mesh.tensor,
        sampler_bytes=0,
        graph_bytes=state.limits.total_bytes,
        waiting_graphs=MAX_WAITING,
        lanes=state.lane_threads.count,
    )
    # On a GPU the sampler's cache uses a part of the memory that weights and optimizer state leave.
    state_bytes = sum(total([*state_lines(model, setting), *sampler_lines(model, setting)]) for model in models)
    limits = sampler_limits(setting.device, least.bytes - state_bytes)
    setting = dataclasses.replace(setting, sampler_rows=limits.rows, sampler_bytes=limits.state_bytes)
    given = [model.micro_batch_tokens for model in request.models if model.micro_batch_tokens]
    side_by_side = setting.lanes if any(model.is_dense for model in models) else 1
    own = side_by_side * max(default_tokens(setting.device), request.unit_sequences * setting.pass_tokens)
    wanted = max(given, default=own)
    choice = choose_budget(models, setting, wanted, least.bytes)
    return pb.EstimateMemoryResponse(
        lines=[
            pb.MemoryLine(model_id=line.model, part=line.part, bytes=line.bytes, formula=line.formula)
            for line in choice.lines
        ],
        total_bytes=sum(line.bytes for line in choice.lines),
        available_bytes=least.bytes,
        available_from=least.source,
        micro_batch_tokens=choice.tokens,
        wanted_tokens=choice.wanted_tokens,
        wanted_bytes=choice.wanted_bytes,
        least_tokens=choice.least_tokens,
        least_bytes=choice.least_bytes,
        fitting_sequence_tokens=choice.fitting_sequence,
    )


def plan_model(state: EngineState, request: ModelRequest, planned: dict[str, ModelPlan]) -> ModelPlan:
    """Plans the model that CreateModel would create from `request`, without creating it."""
    source = request.source
    if isinstance(source, (CopyOf, AdapterOff)):
        original = planned.get(source.model_id) or plan_of_loaded(state.registry.get(source.model_id))
        return _copy(state, original, request)
    if isinstance(source, FromDirectory):
        config = parse_config((check_directory(source.path) / "config.json").read_text("utf-8"))
    elif isinstance(source, FromRandom):
        config = parse_random_config(source.config_json)
    else:
        raise EngineError("MESSAGE_INVALID", f"'{request.model_id}' names no source.", "Set `directory` or `random`.")
    dtype = choose_dtype(request.dtype, state.device.device)
    with unusable_configuration(request):
        return _plan(state, request, empty_model(config, dtype), dtype)


def plan_of_loaded(model: LoadedModel) -> ModelPlan:
    """Plans a copy of an existing model."""
    return ModelPlan(
        id=model.model_id,
        shape=model_shape(model.module),
        dtype_bytes=model.dtype.itemsize,
        trainable_parameters=sum(p.numel() for _, p in model.named_parameters() if p.requires_grad),
        adapter_parameters=sum(p.numel() for name, p in model.module.named_parameters() if is_factor(name)),
        gradient_checkpointing=model.gradient_checkpointing,
        float32_head=model.float32_head,
    )


def _plan(state: EngineState, request: ModelRequest, module: Any, dtype: torch.dtype) -> ModelPlan:
    shape = model_shape(module)
    lora, saved = lora_settings(request)
    mesh = state.placement.mesh
    if mesh is not None and mesh.tensor > 1:
        check_tensor_parallel(module, mesh.tensor, request.model_id, has_adapter=lora is not None)
    if mesh is not None and mesh.context > 1 and not can_pack(module.config):
        raise undivided_rows(request.model_id, module.config.model_type, mesh.context)
    if saved is not None:
        saved.check_fits(module)
    adapter = 0 if lora is None else adapter_parameters(module, lora["rank"], lora["target_modules"])
    learns = adapter or shape.parameters
    computes_alone = state.device.device.type == "cpu" and state.placement.mesh is None
    return ModelPlan(
        id=request.model_id,
        shape=shape,
        dtype_bytes=dtype.itemsize,
        trainable_parameters=learns if request.trainable else 0,
        adapter_parameters=adapter,
        adapter_inputs=0 if lora is None else adapter_inputs(module, lora["target_modules"], shape.layers),
        # An adapter in 16 bits is computed by transformers.
        is_dense=computes_alone and shape.folded_weights > 0 and (dtype == torch.float32 or not adapter),
        gradient_checkpointing=request.gradient_checkpointing,
        float32_head=request.float32_head,
    )


def _copy(state: EngineState, original: ModelPlan, request: ModelRequest) -> ModelPlan:
    return ModelPlan(
        id=request.model_id,
        shape=original.shape,
        dtype_bytes=original.dtype_bytes,
        trainable_parameters=original.trainable_parameters if request.trainable else 0,
        adapter_parameters=original.adapter_parameters,
        adapter_inputs=original.adapter_inputs,
        shares_weights=isinstance(request.source, AdapterOff),
        shares_base=isinstance(request.source, CopyOf)
        and original.adapter_parameters > 0
        and state.placement.mesh is None,
        is_dense=original.is_dense,
        gradient_checkpointing=request.gradient_checkpointing or original.gradient_checkpointing,
        float32_head=request.float32_head or original.float32_head,
    )


def _available(state: EngineState) -> Available:
    return available_memory(state.device.device)
