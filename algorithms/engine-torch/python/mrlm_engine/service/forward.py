"""The call Forward: outputs without a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.service.codec.outputs import outputs_message
from mrlm_engine.service.codec.units import collect_units, decode_units, require_open, selection_of
from mrlm_engine.service.state import EngineState
from mrlm_engine.training import rank_work
from mrlm_engine.training.run_pass import require_value_head
from mrlm_engine.training.smaller import smaller_budget
from mrlm_engine.training.trainable_model import TrainableModel

# Bytes of outputs in one response. gRPC clients accept 4 MiB by default, and small frames do not block other streams.
RESPONSE_BYTES = 512 << 10


def forward(state: EngineState, requests: Iterator[pb.ForwardRequest]) -> Iterator[pb.ForwardResponse]:
    """Handles one call."""
    first = next(requests, None)
    require_open(first)
    assert first is not None
    trainable = state.trainable_model(first.open.model_id)
    selection = selection_of(first.open.outputs, first.open.temperature, trainable.model.vocab_size)
    if selection.value or selection.final_value:
        require_value_head(trainable.model)
    units = decode_units(collect_units(first, requests), trainable.model, linear=False)
    yield from respond(evaluate(state, trainable, units, selection))


def evaluate(
    state: EngineState, trainable: TrainableModel, units: list[TokenUnit], selection: Selection
) -> list[UnitOutputs]:
    """Computes the outputs of `units`, in order. If memory runs out, repeats all of them with a smaller budget."""
    outputs: dict[int, UnitOutputs] = {}
    model_id = trainable.model.model_id
    todo = deque(trainable.plan(units, selection.final_value, state.ranks.groups))
    while todo:
        shards = todo.popleft()
        passes = max(len(trainable.pieces(shard, selection.final_value, once=True)) for shard in shards)
        try:
            arguments = [(model_id, shard, selection, passes) for shard in shards]
            computed = state.ranks.scatter(rank_work.forward, arguments)
        except EngineError as error:
            if error.code != "OUT_OF_MEMORY":
                raise
            tokens, _ = smaller_budget(trainable, shards, selection.final_value, 0, error, once=True)
            state.ranks.everywhere(rank_work.lower_budget, model_id, tokens)
            todo = deque(trainable.plan(units, selection.final_value, state.ranks.groups))
            continue
        for shard, found in zip(shards, computed, strict=True):
            outputs.update(zip((unit.index for unit in shard), found, strict=True))
    return [outputs[i] for i in range(len(units))]


def respond(outputs: list[UnitOutputs]) -> Iterator[pb.ForwardResponse]:
    """Yields responses of bounded size, with units in order."""
    messages: list[pb.UnitOutputs] = []
    start = size = 0
    for i, unit in enumerate(outputs):
        messages.append(outputs_message(unit))
        size += messages[-1].ByteSize()
        if size >= RESPONSE_BYTES or i == len(outputs) - 1:
            yield pb.ForwardResponse(first_unit=start, units=messages)
            messages, start, size = [], i + 1, 0
