"""A small client of the engine for tests: real gRPC over a socket, numpy arrays in and out."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from mrlm_engine.gen.mrlm.common.v1 import error_pb2
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2_grpc
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2_grpc
from mrlm_engine.service.codec.errors import ERROR_METADATA_KEY

Array = NDArray[np.float32]
Outputs = dict[str, Array]
# Maps a unit's index and outputs to the gradients of its outputs.
Loss = Callable[[int, Outputs], dict[str, Array]]
NAMES = ("logprob", "entropy", "value", "final_value")


class EngineCallError(Exception):
    """An error that came over the wire."""

    def __init__(self, cause: grpc.RpcError) -> None:
        trailing: Any = cause.trailing_metadata() or ()
        metadata: dict[str, Any] = dict(trailing)
        self.detail = error_pb2.ErrorDetail.FromString(metadata.get(ERROR_METADATA_KEY, b""))
        super().__init__(f"{self.detail.code}: {self.detail.message}")

    @property
    def code(self) -> str:
        return self.detail.code


@dataclass
class PassResult:
    """Responses of a ForwardBackward call; `events` in order."""

    outputs: dict[int, Outputs] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    done: pb.ForwardBackwardDone | None = None


def sequence(tokens: Sequence[int], mask: Sequence[int], **gradients: Sequence[float]) -> pb.Sequence:
    parts = {name: np.asarray(values, "<f4").tobytes() for name, values in gradients.items()}
    return pb.Sequence(tokens=np.asarray(tokens, "<i4").tobytes(), mask=bytes(mask), **parts)


def group(prompt: Sequence[int], completions: Sequence[Sequence[int]]) -> pb.Unit:
    """Returns a unit of completions of one prompt, each masked on all of its completion."""
    made = [sequence([*prompt, *c], [0] * len(prompt) + [1] * len(c)) for c in completions]
    return pb.Unit(sequences=made)


def decode(unit: pb.UnitOutputs) -> Outputs:
    return {name: np.frombuffer(getattr(unit, name), "<f4") for name in NAMES if getattr(unit, name)}


class Client:
    """Calls with its own numbers, counted up from 1."""

    def __init__(self, address: str, metadata: tuple[tuple[str, str], ...] = ()) -> None:
        self._channel = grpc.insecure_channel(address)
        self.stub: Any = engine_pb2_grpc.EngineServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.sampling: Any = sampler_pb2_grpc.SamplerServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.metadata = metadata
        self.call = 0

    def close(self) -> None:
        self._channel.close()

    def unary(self, name: str, request: Any) -> Any:
        try:
            stub = self.stub if hasattr(self.stub, name) else self.sampling
            return getattr(stub, name)(request, metadata=self.metadata, timeout=180)
        except grpc.RpcError as cause:
            raise EngineCallError(cause) from cause

    def numbered(self, name: str, kind: type[Any], **fields: Any) -> Any:
        self.call += 1
        return self.unary(name, kind(call=self.call, **fields))

    def step(self, model_id: str = "policy", max_grad_norm: float = 0.0, **adamw: float) -> Any:
        values = {"learning_rate": 1e-2, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, **adamw}
        return self.numbered(
            "OptimStep", pb.OptimStepRequest, model_id=model_id, adamw=pb.AdamW(**values), max_grad_norm=max_grad_norm
        )

    def forward(
        self, units: Sequence[pb.Unit], model_id: str = "policy", temperature: float = 1.0, **selected: bool
    ) -> list[Outputs]:
        selection = pb.OutputSelection(**(selected or {"logprob": True}))
        opening = pb.ForwardOpen(model_id=model_id, outputs=selection, temperature=temperature)
        requests = [pb.ForwardRequest(open=opening), pb.ForwardRequest(units=units), pb.ForwardRequest(end=True)]
        try:
            responses = list(self.stub.Forward(iter(requests), metadata=self.metadata, timeout=180))
        except grpc.RpcError as cause:
            raise EngineCallError(cause) from cause
        return [decode(unit) for response in responses for unit in response.units]

    def forward_backward(
        self,
        units: Sequence[pb.Unit],
        loss: Loss | None = None,
        *,
        model_id: str = "policy",
        normalizer: float = 1.0,
        temperature: float = 1.0,
        call: int | None = None,
        return_outputs: bool = False,
        stop_after: int | None = None,
        timeout: float = 180,
        **selected: bool,
    ) -> PassResult:
        """Runs a pass; without `loss` the units carry the gradients. After `stop_after` micro-batches the client is
        gone.
        """
        if call is None:
            self.call += 1
            call = self.call
        opening = pb.ForwardBackwardOpen(
            call=call,
            model_id=model_id,
            outputs=pb.OutputSelection(**(selected or {"logprob": True})),
            temperature=temperature,
            loss=pb.LOSS_KIND_LINEAR if loss is None else pb.LOSS_KIND_CLIENT,
            normalizer=normalizer,
            return_outputs=return_outputs,
        )
        outgoing: queue.SimpleQueue[pb.ForwardBackwardRequest | None] = queue.SimpleQueue()
        outgoing.put(pb.ForwardBackwardRequest(open=opening))
        outgoing.put(pb.ForwardBackwardRequest(units=units))
        outgoing.put(pb.ForwardBackwardRequest(end=True))
        result = PassResult()
        stream = self.stub.ForwardBackward(_drain(outgoing), metadata=self.metadata, timeout=timeout)
        try:
            for response in stream:
                result.events.append(response.WhichOneof("event"))
                if response.HasField("done"):
                    result.done = response.done
                    break
                if response.HasField("graph_lost"):
                    continue
                message = response.micro_batch
                found = dict(zip(message.unit_indices, map(decode, message.units), strict=True))
                result.outputs.update(found)
                if loss is None or message.applied:
                    result.events[-1] = "applied" if message.applied else result.events[-1]
                    continue
                gradients = [_gradients(loss(i, outputs)) for i, outputs in found.items()]
                answer = pb.MicroBatchGradients(micro_batch=message.micro_batch, units=gradients)
                outgoing.put(pb.ForwardBackwardRequest(gradients=[answer]))
                if stop_after is not None and result.events.count("micro_batch") >= stop_after:
                    stream.cancel()
                    break
        except grpc.RpcError as cause:
            raise EngineCallError(cause) from cause
        finally:
            outgoing.put(None)
        return result


def _gradients(values: dict[str, Array]) -> pb.UnitGradients:
    return pb.UnitGradients(**{name: np.asarray(value, "<f4").tobytes() for name, value in values.items()})


def _drain(source: queue.SimpleQueue[pb.ForwardBackwardRequest | None]) -> Iterator[pb.ForwardBackwardRequest]:
    while (message := source.get()) is not None:
        yield message
