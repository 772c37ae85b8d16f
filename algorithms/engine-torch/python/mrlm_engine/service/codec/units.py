"""Reception of the units of a streamed call, with validation of all of them before any work."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from mrlm_engine.batching.unit import Floats, TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models.loaded_model import LoadedModel

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


def selection_of(outputs: pb.OutputSelection, temperature: float, vocab_size: int) -> Selection:
    """Returns the requested outputs and temperature; a temperature of 0 means 1."""
    if not math.isfinite(temperature) or temperature < 0:
        raise EngineError(
            "OPTIONS_INVALID", f"The temperature is {temperature}.", "Use a finite number above 0, or 0 for 1."
        )
    if outputs.top > vocab_size:
        raise EngineError(
            "OPTIONS_INVALID",
            f"`top` is {outputs.top}; the model's vocabulary has {vocab_size} tokens.",
            "Ask for at most as many tokens as there are.",
        )
    return Selection(
        outputs.logprob, outputs.entropy, outputs.value, outputs.final_value, temperature or 1.0, outputs.top
    )


def require_open(message: pb.ForwardRequest | pb.ForwardBackwardRequest | sampler_pb2.SampleRequest | None) -> None:
    """Refuses a stream that does not start with `open`."""
    if message is None or not message.HasField("open"):
        raise EngineError(
            "MESSAGE_INVALID", "The stream does not begin with `open`.", "Send `open` in the first message."
        )


def decode_unit(unit: pb.Unit, index: int, vocab_size: int, max_positions: int, linear: bool) -> TokenUnit:
    """Decodes the unit with number `index` of a call. `linear`: its gradients are in the message."""
    if not unit.sequences:
        raise EngineError("SEQUENCE_INVALID", f"Unit {index} has no sequences.", "Leave empty units out.")
    sequences = tuple(
        _decode_sequence(sequence, f"Sequence {s} of unit {index}", vocab_size, max_positions)
        for s, sequence in enumerate(unit.sequences)
    )
    gradients = _linear_gradients(unit.sequences, sequences, index) if linear else None
    return TokenUnit(index, sequences, gradients)


def decode_floats(data: bytes, expected: int, what: str) -> Floats | None:
    """Decodes little-endian float32 [expected]; None for empty `data`, which means zeros."""
    if not data:
        return None
    if len(data) != 4 * expected:
        raise EngineError(
            "GRADIENT_SHAPE",
            f"{what} has {len(data)} bytes; {expected} masked positions need {4 * expected}.",
            "Send one little-endian float32 for each masked position, or nothing for zeros.",
        )
    return np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)


def _decode_sequence(sequence: pb.Sequence, what: str, vocab_size: int, max_positions: int) -> TokenSequence:
    tokens = np.frombuffer(sequence.tokens, dtype="<i4") if len(sequence.tokens) % 4 == 0 else np.zeros(0, np.int32)
    if len(tokens) == 0:
        raise EngineError(
            "SEQUENCE_INVALID",
            f"{what} has {len(sequence.tokens)} bytes of token ids.",
            "Send little-endian int32 token ids, at least one.",
        )
    if max_positions and len(tokens) > max_positions:
        raise EngineError(
            "SEQUENCE_TOO_LONG",
            f"{what} has {len(tokens)} tokens; the model accepts {max_positions}.",
            "Shorten it, or use a model with more positions.",
        )
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= vocab_size:
        raise EngineError(
            "SEQUENCE_INVALID",
            f"{what} holds token id {low if low < 0 else high}; the model's vocabulary has {vocab_size} tokens.",
            "Use the tokenizer that belongs to the model.",
        )
    mask = np.frombuffer(sequence.mask, dtype=np.uint8)
    if len(mask) != len(tokens) or (len(mask) and (mask[0] != 0 or int(mask.max()) > 1)):
        raise EngineError(
            "SEQUENCE_INVALID",
            f"{what} has {len(tokens)} tokens and a mask of {len(mask)} bytes"
            + (f" that starts with {mask[0]}." if len(mask) else "."),
            "Send one byte of 0 or 1 for each token, the first of them 0: nothing precedes it.",
        )
    positions = np.flatnonzero(mask)
    tokens = tokens.astype(np.int32, copy=False)
    if not sequence.targets:
        return TokenSequence(tokens, positions)
    targets = np.frombuffer(sequence.targets, dtype="<i4") if len(sequence.targets) % 4 == 0 else np.zeros(0, np.int32)
    each, rest = divmod(len(targets), max(1, len(positions)))
    if each == 0 or rest != 0 or len(positions) == 0 or int(targets.min()) < 0 or int(targets.max()) >= vocab_size:
        raise EngineError(
            "SEQUENCE_INVALID",
            f"{what} has {len(sequence.targets)} bytes of targets for {len(positions)} masked positions.",
            "Send little-endian int32 ids of the vocabulary, equally many for each masked position.",
        )
    return TokenSequence(tokens, np.repeat(positions, each), targets.astype(np.int32, copy=False))


def _linear_gradients(wire: Sequence[pb.Sequence], sequences: tuple[TokenSequence, ...], index: int) -> UnitGradients:
    def joined(name: str) -> Floats | None:
        parts = [
            decode_floats(getattr(w, name), len(s.positions), f"{name} of sequence {i} of unit {index}")
            for i, (w, s) in enumerate(zip(wire, sequences, strict=True))
        ]
        if all(part is None for part in parts):
            return None
        zeros = [np.zeros(len(s.positions), np.float32) for s in sequences]
        return np.concatenate([zero if part is None else part for part, zero in zip(parts, zeros, strict=True)])

    return UnitGradients(joined("grad_logprob"), joined("grad_entropy"), joined("grad_value"))
