"""The call ForwardBackward: outputs, gradients (of the client or known beforehand) and their accumulation."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.service.calls import CallSlot
from mrlm_engine.service.codec.outputs import event_message, gradients_of
from mrlm_engine.service.codec.units import collect_units, decode_units, require_open, selection_of
from mrlm_engine.service.state import EngineState
from mrlm_engine.training import rank_work
from mrlm_engine.training.passes import Pass
from mrlm_engine.training.reader import StreamReader
from mrlm_engine.training.run_pass import PassRunner, require_value_head
from mrlm_engine.training.trainable_model import TrainableModel


def forward_backward(
    state: EngineState, requests: Iterator[pb.ForwardBackwardRequest]
) -> Iterator[pb.ForwardBackwardResponse]:
    """Handles one call or its repetition."""
    first = next(requests, None)
    require_open(first)
    assert first is not None
    opening = first.open
    units = collect_units(first, requests)
    content = b"".join(part.SerializeToString(deterministic=True) for part in (opening, *units))
    with state.calls.call(opening.call, "ForwardBackward", content) as slot:
        if slot.answer is None:
            yield from _attempt(state, opening, units, slot, requests)
        else:
            yield from slot.answer[:-1]
        assert slot.answer is not None
        done = slot.answer[-1]
    # Sent last: a client that has received `done` relies on the answer in the call log.
    yield done


def _attempt(
    state: EngineState,
    opening: pb.ForwardBackwardOpen,
    units: list[pb.Unit],
    slot: CallSlot[list[pb.ForwardBackwardResponse]],
    requests: Iterator[pb.ForwardBackwardRequest],
) -> Iterator[pb.ForwardBackwardResponse]:
    """Starts the pass, or resumes an interrupted one. Sets the slot's answer when it is complete."""
    model_id = opening.model_id
    trainable = state.trainable_model(model_id)
    work = slot.progress
    if work is None or work.given_up:
        work = _plan(opening, units, trainable, state.ranks.groups)
        state.passes.begin(model_id, work)
        slot.progress = work
    work.running = True
    try:
        answers = StreamReader(gradients_of(requests, trainable.model))
        yield from map(event_message, PassRunner(trainable, state.ranks, work, answers, state.limits).run())
        state.passes.commit(model_id)
        slot.answer = [event_message(event) for event in work.answer()]
    finally:
        work.running = False
        if slot.answer is None:
            state.ranks.everywhere(rank_work.drop_all, model_id)
            if opening.call == 0:
                # A call without a number cannot be repeated.
                state.passes.give_up(model_id, "its end")


def _plan(opening: pb.ForwardBackwardOpen, units: list[pb.Unit], trainable: TrainableModel, ranks: int) -> Pass:
    """Checks everything, then plans the micro-batches."""
    trainable.require_trainable()
    if not math.isfinite(opening.normalizer) or opening.normalizer <= 0:
        raise EngineError(
            "NORMALIZER_INVALID",
            f"The normalizer is {opening.normalizer}.",
            "Send what the gradients are to be divided by: finite and above 0.",
        )
    if opening.loss not in (pb.LOSS_KIND_CLIENT, pb.LOSS_KIND_LINEAR):
        raise EngineError("MESSAGE_INVALID", "The call names no kind of loss.", "Set `loss` to CLIENT or LINEAR.")
    linear = opening.loss == pb.LOSS_KIND_LINEAR
    selection = selection_of(opening.outputs, opening.temperature, trainable.model.vocab_size)
    decoded = decode_units(units, trainable.model, linear)
    has_value_gradient = any(unit.gradients is not None and unit.gradients.value is not None for unit in decoded)
    if selection.value or selection.final_value or has_value_gradient:
        require_value_head(trainable.model)
    return Pass(
        call=opening.call,
        selection=selection,
        normalizer=opening.normalizer,
        linear=linear,
        return_outputs=opening.return_outputs,
        micro_batches=dict(enumerate(trainable.plan(decoded, selection.final_value, ranks))),
        budget=trainable.budget,
    )
