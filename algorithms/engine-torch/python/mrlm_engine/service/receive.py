"""Reception of the units of a streamed call, with validation of all of them before any work."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.service.codec.units import decode_unit

Message = TypeVar("Message", pb.ForwardRequest, pb.ForwardBackwardRequest)


def collect_units(first: Message, following: Iterator[Message]) -> list[pb.Unit]:
    """Receives all units up to the message with `end`."""
    units = list(first.units)
    message = first
    while not message.end:
        try:
            message = next(following)
        except StopIteration:
            raise EngineError(
                "MESSAGE_INVALID",
                f"The stream ended after {len(units)} units without `end`.",
                "Set `end` in the message with the last units.",
            ) from None
        units.extend(message.units)
    return units


def decode_units(units: list[pb.Unit], model: LoadedModel, linear: bool) -> list[TokenUnit]:
    """Yields the units of a call, numbered from 0."""
    return [decode_unit(unit, i, model.vocab_size, model.max_positions, linear) for i, unit in enumerate(units)]


def selection_of(outputs: pb.OutputSelection, temperature: float) -> Selection:
    """Returns the requested outputs and temperature; a temperature of 0 means 1."""
    if not math.isfinite(temperature) or temperature < 0:
        raise EngineError(
            "OPTIONS_INVALID", f"The temperature is {temperature}.", "Use a finite number above 0, or 0 for 1."
        )
    return Selection(outputs.logprob, outputs.entropy, outputs.value, outputs.final_value, temperature or 1.0)


def require_open(message: pb.ForwardRequest | pb.ForwardBackwardRequest | sampler_pb2.SampleRequest | None) -> None:
    """Refuses a stream that does not start with `open`."""
    if message is None or not message.HasField("open"):
        raise EngineError(
            "MESSAGE_INVALID", "The stream does not begin with `open`.", "Send `open` in the first message."
        )
