"""The request of CreateModel, and the description of a model."""

from __future__ import annotations

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models.info import ModelInfo
from mrlm_engine.models.request import (
    AdapterOff,
    CopyOf,
    FromDirectory,
    FromRandom,
    LoraRequest,
    ModelRequest,
    Role,
    Source,
)


def model_request(request: pb.CreateModelRequest) -> ModelRequest:
    """Converts a request. Refuses a role that the protocol does not have."""
    if request.role not in pb.Role.values():
        raise EngineError(
            "OPTIONS_INVALID",
            f"'{request.model_id}' has the role {request.role}, which does not exist.",
            f"Use one of: {', '.join(pb.Role.keys())}.",
        )
    lora = request.lora
    return ModelRequest(
        model_id=request.model_id,
        source=_source(request),
        role=Role(request.role),
        lora=LoraRequest(lora.rank, lora.alpha, lora.dropout, list(lora.target_modules), lora.seed, lora.path)
        if request.HasField("lora")
        else None,
        dtype=request.dtype,
        float32_head=request.float32_head,
        value_head=request.value_head,
        trainable=request.trainable,
        gradient_checkpointing=request.gradient_checkpointing,
        micro_batch_tokens=request.micro_batch_tokens,
    )


def model_info_message(info: ModelInfo) -> pb.ModelInfo:
    """Encodes a model's description."""
    return pb.ModelInfo(**{**vars(info), "role": pb.Role.Name(info.role)})


def _source(request: pb.CreateModelRequest) -> Source | None:
    name = request.WhichOneof("source")
    if name == "directory":
        return FromDirectory(request.directory)
    if name == "random":
        random = request.random
        return FromRandom(random.config_json, random.seed, dict(random.tokenizer_files))
    if name == "copy_of":
        return CopyOf(request.copy_of)
    return AdapterOff(request.adapter_off) if name == "adapter_off" else None
