"""The calls Describe, CreateModel and ReleaseModel."""

from __future__ import annotations

import platform

import torch
import transformers

from mrlm_engine import PROTOCOL_MAJOR, PROTOCOL_MINOR
from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models.info import model_info
from mrlm_engine.service import rank_models
from mrlm_engine.service.codec.models import model_info_message, model_request
from mrlm_engine.service.state import EngineState


def describe(state: EngineState) -> pb.DescribeResponse:
    """Describes device, versions, mode and models."""
    device = state.device.device
    cuda = device.type == "cuda"
    return pb.DescribeResponse(
        protocol_major=PROTOCOL_MAJOR,
        protocol_minor=PROTOCOL_MINOR,
        device=str(device),
        device_name=state.device.name,
        torch_version=torch.__version__,
        transformers_version=transformers.__version__,
        python_version=platform.python_version(),
        deterministic=state.device.deterministic,
        models=[model_info_message(model_info(model)) for model in state.registry.all()],
        instance_id=state.instance_id,
        memory_allocated_bytes=torch.cuda.memory_allocated(device) if cuda else 0,
        memory_peak_bytes=torch.cuda.max_memory_allocated(device) if cuda else 0,
        threads=state.device.threads * state.device.lanes,
        world_size=state.ranks.size,
        last_call=state.calls.highest,
        compute_seconds=COMPUTE_CLOCK.seconds,
    )


def create(state: EngineState, request: pb.CreateModelRequest) -> pb.CreateModelResponse:
    """Creates a model on every rank."""
    state.registry.check_new(request.model_id)
    wanted = model_request(request)
    try:
        info = state.ranks.everywhere(rank_models.create, wanted)[0]
    except EngineError:
        # Some ranks have created it.
        state.ranks.everywhere(rank_models.discard, request.model_id)
        raise
    return pb.CreateModelResponse(
        model=model_info_message(info), tokenizer_files=state.registry.get(request.model_id).tokenizer_files
    )


def release(state: EngineState, request: pb.ReleaseModelRequest) -> pb.ReleaseModelResponse:
    """Frees a model."""
    state.ranks.everywhere(rank_models.release, request.model_id)
    state.passes.forget(request.model_id)
    return pb.ReleaseModelResponse()
