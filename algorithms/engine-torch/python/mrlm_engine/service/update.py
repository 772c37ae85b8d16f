"""The call Update of a process that samples only."""

from __future__ import annotations

import json
import threading
import time

import torch

from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.device import choose_dtype
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2 as pb
from mrlm_engine.models.create import prepare_module
from mrlm_engine.models.from_config import parse_config
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import plain_name
from mrlm_engine.models.rebuild import empty_module
from mrlm_engine.models.request import Role
from mrlm_engine.models.weights import LORA_SCALE
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.checksum import weights_checksum
from mrlm_engine.service.codec.in_flight import in_flight_rule
from mrlm_engine.service.receive_weights import ReceivedWeights, receive_weights
from mrlm_engine.service.state import EngineState


class Updates:
    """Models of a process that samples only, and the weights that they receive. One update runs at a time."""

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._lock = threading.Lock()
        # Content of each model beside its weights: another one needs another model.
        self._layouts: dict[str, tuple[object, ...]] = {}

    def update(self, request: pb.UpdateRequest) -> pb.UpdateResponse:
        """Reads weights, compares their checksum, and samples with them. After an error the earlier version stays."""
        started = time.perf_counter()
        rule = in_flight_rule(request.in_flight)
        if request.WhichOneof("source") != "trainer":
            raise EngineError(
                "OPTIONS_INVALID", "This sampler reads weights from the trainer only.", "Send the trainer's address."
            )
        with self._lock:
            sampler = self._state.samplers().get(request.model_id)
            present = None if sampler is None else (sampler.version, sampler.checksum)
            if present != (request.version, request.checksum):
                source = request.trainer
                received = receive_weights(
                    source.address, source.token, request.model_id, request.version, request.checksum
                )
                found = weights_checksum(received.tensors.items())
                if found != request.checksum:
                    raise EngineError(
                        "WEIGHTS_INVALID",
                        f"The received weights of '{request.model_id}' have the checksum {found[:12]} "
                        f"instead of {request.checksum[:12]}.",
                        "Update again. If it fails again, the memory or the network damages data.",
                    )
                layout = _layout(received)
                with COMPUTE_CLOCK.running():
                    if sampler is None or self._layouts.get(request.model_id) != layout:
                        self._create(request.model_id, received)
                        self._layouts[request.model_id] = layout
                    else:
                        sampler.replace(received.tensors, request.version, request.checksum, rule)
        return pb.UpdateResponse(
            version=request.version, checksum=request.checksum, seconds=time.perf_counter() - started
        )

    def _create(self, model_id: str, received: ReceivedWeights) -> None:
        """Makes the model of the weights, and a sampler that computes as that of the trainer."""
        state, header = self._state, received.header
        try:
            model = build_model(model_id, received, state.device.device)
        except (ValueError, TypeError, KeyError) as cause:
            raise EngineError(
                "WEIGHTS_INVALID",
                f"The description of '{model_id}' cannot be used: {type(cause).__name__}: {cause}.",
                "The trainer and the sampler have different versions of mrlm: use equal ones.",
            ) from cause
        sampler = Sampler(model, state.device.deterministic)
        found = sampler.checksum
        if found != header.checksum:
            sampler.close()
            raise EngineError(
                "WEIGHTS_INVALID",
                f"The sampler's weights of '{model_id}' have the checksum {found[:12]} instead of "
                f"{header.checksum[:12]}.",
                "The trainer and the sampler have different versions of mrlm or transformers: use equal ones.",
            )
        state.adopt(model, sampler)
        # The decoder has the weights.
        model.module.to("meta")


def build_model(model_id: str, received: ReceivedWeights, device: torch.device) -> LoadedModel:
    """Makes a frozen model with received weights."""
    header = received.header
    lora = json.loads(header.lora_json) if header.lora_json else None
    dtype = choose_dtype(header.dtype, device)
    config = parse_config(header.config_json)
    config.dtype = dtype
    module = empty_module(config, dtype, lora)
    names = {plain_name(name): name for name in module.state_dict()}
    tensors = {names.get(name, name): tensor for name, tensor in received.tensors.items() if name != LORA_SCALE}
    try:
        module.load_state_dict(tensors, strict=True)
    except RuntimeError as cause:
        raise EngineError(
            "WEIGHTS_INVALID",
            f"The weights of '{model_id}' do not fit its configuration: {str(cause).splitlines()[-1].strip()}",
            "The trainer and the sampler have different versions of transformers: use equal ones.",
        ) from cause
    return LoadedModel(
        model_id=model_id,
        role=Role.POLICY,
        module=prepare_module(module, device, trainable=False, has_adapter=lora is not None),
        config=module.config,
        dtype=dtype,
        device=device,
        tokenizer_files=dict(header.tokenizer_files),
        version=header.version,
        float32_head=header.float32_head,
        lora=lora,
    )


def _layout(received: ReceivedWeights) -> tuple[object, ...]:
    header = received.header
    shapes = tuple((tensor.name, tensor.dtype, tuple(tensor.shape)) for tensor in header.tensors)
    return (header.config_json, header.dtype, header.float32_head, header.lora_json, shapes)
