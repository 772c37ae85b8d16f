"""The call EstimateMemory."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch

from mrlm_engine.backbone.choose import undivided_rows
from mrlm_engine.backbone.packed_attention import can_pack
from mrlm_engine.device import choose_dtype
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.memory.available import Available, available_memory, less_margin
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


@dataclass(frozen=True)
class Target:
    """Devices that an estimate is for: those of the engine, or assumed ones."""

    # Type of the device of each rank.
    device: str
    ranks: int
    # Sizes of the mesh, and whether the ranks along data x context hold parts of the weights (FSDP2).
    context: int
    tensor: int
    divides: bool
    lanes: int
    available: Available
    is_assumed: bool = False

    @property
    def shares(self) -> bool:
        """Whether no rank has all weights or all tokens by itself."""
        return self.divides or self.context * self.tensor > 1

    @staticmethod
    def of(state: EngineState, request: pb.EstimateMemoryRequest) -> Target:
        """Returns the target of a request."""
        if request.HasField("assumed_devices"):
            assumed = request.assumed_devices
            available = Available(less_margin(assumed.bytes), f"CUDA, {assumed.name} assumed")
            ranks, context, tensor = max(1, assumed.ranks), max(1, assumed.context), max(1, assumed.tensor)
            divides = assumed.shards_weights and ranks > tensor
            return Target("cuda", ranks, context, tensor, divides, 1, available, is_assumed=True)
        least = min(state.ranks.everywhere(_available), key=lambda found: found.bytes)
        mesh = state.placement.mesh
        context, tensor, divides = (1, 1, False) if mesh is None else (mesh.context, mesh.tensor, mesh.divides)
        kind, lanes = state.device.device.type, state.lane_threads.count
        return Target(kind, state.ranks.size, context, tensor, divides, lanes, least)

    def dtype(self, name: str, state: EngineState) -> torch.dtype:
        """Returns the number format of `name` on these devices."""
        if self.is_assumed and name in ("", "auto"):
            return torch.bfloat16
        return choose_dtype(name, state.device.device)


def estimate_memory(state: EngineState, request: pb.EstimateMemoryRequest) -> pb.EstimateMemoryResponse:
    """Estimates the memory of the models in the request, and chooses their token budget."""
    if not request.models:
        raise EngineError("MESSAGE_INVALID", "EstimateMemory names no model.", "Send what CreateModel would be sent.")
    target = Target.of(state, request)
    plans: dict[str, ModelPlan] = {}
    for model in request.models:
        plans[model.model_id] = plan_model(state, target, model_request(model), plans)
    models = list(plans.values())
    positions = min((plan.shape.positions for plan in models if plan.shape.positions), default=0)
    sequence = min(n for n in (request.sequence_tokens or positions or UNLIMITED_TOKENS, positions) if n)
    setting = Setting(
        device=target.device,
        sequence_tokens=sequence,
        concurrency=request.concurrency,
        sampled_models=frozenset(request.sampled_models),
        ranks=target.ranks,
        ranks_of_weights=target.ranks // target.tensor if target.divides else 1,
        context=target.context,
        tensor=target.tensor,
        sampler_bytes=0,
        graph_bytes=state.limits.total_bytes,
        waiting_graphs=MAX_WAITING,
        lanes=target.lanes,
    )
    # On a GPU the sampler's cache uses a part of the memory that weights and optimizer state leave.
    state_bytes = sum(total([*state_lines(model, setting), *sampler_lines(model, setting)]) for model in models)
    limits = sampler_limits(setting.device, target.available.bytes - state_bytes)
    setting = dataclasses.replace(setting, sampler_rows=limits.rows, sampler_bytes=limits.state_bytes)
    given = [model.micro_batch_tokens for model in request.models if model.micro_batch_tokens]
    side_by_side = setting.lanes if any(model.is_dense for model in models) else 1
    own = side_by_side * max(default_tokens(setting.device), request.unit_sequences * setting.pass_tokens)
    wanted = max(given, default=own)
    choice = choose_budget(models, setting, wanted, target.available.bytes)
    return pb.EstimateMemoryResponse(
        lines=[
            pb.MemoryLine(model_id=line.model, part=line.part, bytes=line.bytes, formula=line.formula)
            for line in choice.lines
        ],
        total_bytes=sum(line.bytes for line in choice.lines),
        available_bytes=target.available.bytes,
        available_from=target.available.source,
        micro_batch_tokens=choice.tokens,
        wanted_tokens=choice.wanted_tokens,
        wanted_bytes=choice.wanted_bytes,
        least_tokens=choice.least_tokens,
        least_bytes=choice.least_bytes,
        fitting_sequence_tokens=choice.fitting_sequence,
    )


def plan_model(state: EngineState, target: Target, request: ModelRequest, planned: dict[str, ModelPlan]) -> ModelPlan:
    """Plans the model that CreateModel would create from `request`, without creating it."""
    source = request.source
    if isinstance(source, (CopyOf, AdapterOff)):
        original = planned.get(source.model_id) or plan_of_loaded(state.registry.get(source.model_id))
        return _copy(target, original, request)
    if isinstance(source, FromDirectory):
        directory = check_directory(source.path, needs_weights=not target.is_assumed)
        config = parse_config((directory / "config.json").read_text("utf-8"))
    elif isinstance(source, FromRandom):
        config = parse_random_config(source.config_json)
    else:
        raise EngineError("MESSAGE_INVALID", f"'{request.model_id}' names no source.", "Set `directory` or `random`.")
    dtype = target.dtype(request.dtype, state)
    with unusable_configuration(request):
        return _plan(target, request, empty_model(config, dtype), dtype)


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


def _plan(target: Target, request: ModelRequest, module: Any, dtype: torch.dtype) -> ModelPlan:
    shape = model_shape(module)
    lora, saved = lora_settings(request)
    if target.tensor > 1:
        check_tensor_parallel(module, target.tensor, request.model_id, has_adapter=lora is not None)
    if target.context > 1 and not can_pack(module.config):
        raise undivided_rows(request.model_id, module.config.model_type, target.context)
    if saved is not None:
        saved.check_fits(module)
    adapter = 0 if lora is None else adapter_parameters(module, lora["rank"], lora["target_modules"])
    learns = adapter or shape.parameters
    computes_alone = target.device == "cpu" and not target.shares
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


def _copy(target: Target, original: ModelPlan, request: ModelRequest) -> ModelPlan:
    return ModelPlan(
        id=request.model_id,
        shape=original.shape,
        dtype_bytes=original.dtype_bytes,
        trainable_parameters=original.trainable_parameters if request.trainable else 0,
        adapter_parameters=original.adapter_parameters,
        adapter_inputs=original.adapter_inputs,
        shares_weights=isinstance(request.source, AdapterOff),
        shares_base=isinstance(request.source, CopyOf) and original.adapter_parameters > 0 and not target.shares,
        is_dense=original.is_dense,
        gradient_checkpointing=request.gradient_checkpointing or original.gradient_checkpointing,
        float32_head=request.float32_head or original.float32_head,
    )


def _available(state: EngineState) -> Available:
    return available_memory(state.device.device)
