"""The call Weights: a stream of the published weights."""

from __future__ import annotations

import json
from collections.abc import Iterator

from mrlm_engine.compute.tensor_bytes import tensor_bytes
from mrlm_engine.device import dtype_name
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.models.info import model_info
from mrlm_engine.service.state import EngineState

# Bytes of one message.
PIECE = 1 << 20


def send_weights(state: EngineState, request: pb.WeightsRequest) -> Iterator[pb.WeightsResponse]:
    """Yields the header, then the bytes of the tensors. Fails with WEIGHTS_VERSION when other weights are published."""
    weights = state.sampler(request.model_id).published()
    model = state.registry.get(request.model_id)
    yield pb.WeightsResponse(
        header=pb.WeightsHeader(
            version=weights.version,
            checksum=weights.checksum,
            config_json=model_info(model).config_json,
            dtype=dtype_name(model.dtype),
            float32_head=model.float32_head,
            lora_json=json.dumps(model.lora) if model.has_adapter else "",
            tokenizer_files=model.tokenizer_files,
            tensors=[
                pb.TensorHeader(name=name, dtype=dtype_name(tensor.dtype), shape=tensor.shape, same_as=same_as)
                for name, tensor, same_as in weights.unique()
            ],
        )
    )
    waiting = bytearray()
    for tensor in weights.copies():
        content = memoryview(tensor_bytes(tensor))
        # Small tensors share a message, and a large one is cut without a copy of all of it.
        for start in range(0, len(content), PIECE):
            waiting += content[start : start + PIECE]
            if len(waiting) >= PIECE:
                yield pb.WeightsResponse(data=bytes(waiting))
                waiting = bytearray()
    if waiting:
        yield pb.WeightsResponse(data=bytes(waiting))
