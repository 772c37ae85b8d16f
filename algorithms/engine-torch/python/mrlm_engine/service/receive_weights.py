"""Weights from the trainer, over the call Weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import grpc
import torch

from mrlm_engine.compute.tensor_bytes import tensor_of
from mrlm_engine.errors import ERROR_STATUS, EngineError
from mrlm_engine.gen.mrlm.common.v1 import error_pb2
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2_grpc
from mrlm_engine.service.codec.errors import ERROR_METADATA_KEY

# Silence of the trainer after which it counts as gone, in seconds.
_SILENCE = 60.0


@dataclass(frozen=True)
class ReceivedWeights:
    """Weights with the description of their model."""

    header: pb.WeightsHeader
    # By state-dict name, on CPU; tied names share a tensor.
    tensors: dict[str, torch.Tensor]


def receive_weights(address: str, token: str, model_id: str, version: int, checksum: str) -> ReceivedWeights:
    """Reads the weights that a trainer has published.

    Raises WEIGHTS_VERSION, WEIGHTS_INVALID, or the trainer's error.
    """
    options = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", int(_SILENCE * 1000)),
    ]
    with grpc.insecure_channel(address, options=options) as channel:
        stub: Any = engine_pb2_grpc.EngineServiceStub(channel)  # type: ignore[no-untyped-call]
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        try:
            return read_weights(
                stub.Weights(pb.WeightsRequest(model_id=model_id), metadata=metadata), version, checksum
            )
        except grpc.RpcError as cause:
            raise _error_of(cause, address) from cause


def read_weights(responses: Iterable[pb.WeightsResponse], version: int, checksum: str) -> ReceivedWeights:
    """Reads a stream of Weights."""
    stream = iter(responses)
    first = next(stream, None)
    if first is None or not first.HasField("header"):
        raise _invalid("the stream does not begin with a header")
    header = first.header
    if (header.version, header.checksum) != (version, checksum):
        raise EngineError(
            "WEIGHTS_VERSION",
            f"The trainer has published version {header.version} ({header.checksum[:12]}), "
            f"and not version {version} ({checksum[:12]}).",
            "Update to the newest version.",
            retryable=True,
        )
    tensors: dict[str, torch.Tensor] = {}
    rest = bytearray()
    for tensor in header.tensors:
        if tensor.same_as:
            if tensor.same_as not in tensors:
                raise _invalid(f"'{tensor.name}' is the same as '{tensor.same_as}', which did not come before it")
            tensors[tensor.name] = tensors[tensor.same_as]
            continue
        dtype = getattr(torch, tensor.dtype, None)
        if not isinstance(dtype, torch.dtype):
            raise _invalid(f"'{tensor.name}' has the number format '{tensor.dtype}', which torch does not have")
        size = math.prod(tensor.shape) * dtype.itemsize
        while len(rest) < size:
            piece = next(stream, None)
            if piece is None:
                raise _invalid(f"the stream ended within '{tensor.name}'")
            rest += piece.data
        tensors[tensor.name] = tensor_of(rest[:size], dtype, list(tensor.shape))
        del rest[:size]
    if rest or next(stream, None) is not None:
        raise _invalid("the stream has more bytes than its tensors")
    return ReceivedWeights(header, tensors)


def _invalid(fault: str) -> EngineError:
    return EngineError(
        "WEIGHTS_INVALID",
        f"The weights of the trainer cannot be used: {fault}.",
        "Update again. If it fails again, the trainer has another version of mrlm, or the network damages data.",
        retryable=True,
    )


def _error_of(cause: grpc.RpcError, address: str) -> EngineError:
    call: Any = cause
    detail = dict(call.trailing_metadata() or ()).get(ERROR_METADATA_KEY)
    if detail is not None:
        error = error_pb2.ErrorDetail.FromString(detail)
        code = error.code if error.code in ERROR_STATUS else "ENGINE_FAILED"
        return EngineError(code, error.message, error.hint, retryable=error.retryable)
    return EngineError(
        "ENGINE_UNAVAILABLE",
        f"The trainer at {address} cannot be reached: {call.details()}.",
        "Check that it runs, and that this machine reaches its address.",
    )
