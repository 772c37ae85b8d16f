"""Outputs of units, events of a pass, and the gradients that a client returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mrlm_engine.batching.unit import Floats, TokenUnit, UnitGradients
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.logprobs.selection import UnitOutputs
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.service.codec.units import decode_floats
from mrlm_engine.training.passes import ClientGradients, Event, GraphLost, MicroBatchOutputs
from mrlm_engine.training.run_pass import require_value_head


def outputs_message(outputs: UnitOutputs) -> pb.UnitOutputs:
    """Encodes little-endian float32; empty if an output was not requested."""
    return pb.UnitOutputs(
        logprob=_bytes(outputs.logprob),
        entropy=_bytes(outputs.entropy),
        value=_bytes(outputs.value),
        final_value=_bytes(outputs.final_value),
        top_tokens=b"" if outputs.top_tokens is None else outputs.top_tokens.astype("<i4", copy=False).tobytes(),
        top_logprob=_bytes(outputs.top_logprob),
    )


def event_message(event: Event) -> pb.ForwardBackwardResponse:
    """Encodes one response of a ForwardBackward call."""
    if isinstance(event, MicroBatchOutputs):
        return pb.ForwardBackwardResponse(
            micro_batch=pb.MicroBatchOutputs(
                micro_batch=event.number,
                unit_indices=event.unit_indices,
                units=[outputs_message(unit) for unit in event.units],
                applied=event.applied,
            )
        )
    if isinstance(event, GraphLost):
        return pb.ForwardBackwardResponse(graph_lost=pb.GraphLost(micro_batch=event.number, reason=event.reason))
    return pb.ForwardBackwardResponse(done=pb.ForwardBackwardDone(**vars(event)))


def gradients_of(requests: Iterable[pb.ForwardBackwardRequest], model: LoadedModel) -> Iterator[list[ClientGradients]]:
    """Yields the client's gradients, all of one message at a time."""
    for request in requests:
        yield [_client_gradients(message, model) for message in request.gradients]


def _client_gradients(message: pb.MicroBatchGradients, model: LoadedModel) -> ClientGradients:
    return ClientGradients(message.micro_batch, lambda units: decode_gradients(message, units, model))


def decode_gradients(
    message: pb.MicroBatchGradients, units: list[TokenUnit], model: LoadedModel
) -> list[UnitGradients]:
    """Decodes the client's gradients of one micro-batch and checks them against its units."""
    if len(message.units) != len(units):
        raise EngineError(
            "GRADIENT_SHAPE",
            f"Micro-batch {message.micro_batch} has {len(units)} units; gradients came for {len(message.units)}.",
            "Send one entry for each unit, in the order of `unit_indices`.",
        )
    decoded = []
    for unit, wire in zip(units, message.units, strict=True):
        parts = {
            name: decode_floats(getattr(wire, name), unit.outputs, f"The gradient of {name} of unit {unit.index}")
            for name in ("logprob", "entropy", "value")
        }
        if parts["value"] is not None:
            require_value_head(model)
        decoded.append(UnitGradients(**parts))
    return decoded


def _bytes(values: Floats | None) -> bytes:
    return b"" if values is None else values.astype("<f4", copy=False).tobytes()
