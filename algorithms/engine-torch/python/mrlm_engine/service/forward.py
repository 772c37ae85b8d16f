"""Forward: outputs without a graph."""

from __future__ import annotations

from collections.abc import Iterator

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.service.receive import collect_units, decode_units, require_open, selection_of
from mrlm_engine.service.state import EngineState
from mrlm_engine.training import rank_work
from mrlm_engine.training.run_pass import require_value_head

# Outputs of one response: gRPC clients receive 4 MiB by default, and smaller frames keep other streams going.
RESPONSE_BYTES = 512 << 10


def forward(state: EngineState, requests: Iterator[pb.ForwardRequest]) -> Iterator[pb.ForwardResponse]:
    """Handles one call."""
    first = next(requests, None)
    require_open(first)
    assert first is not None
    learner = state.learner(first.open.model_id)
    selection = selection_of(first.open.outputs, first.open.temperature)
    if selection.value or selection.final_value:
        require_value_head(learner.held)
    units = decode_units(collect_units(first, requests), learner.held, linear=False)
    outputs: dict[int, pb.UnitOutputs] = {}
    for shares in learner.plan(units, selection.final_value, state.ranks.size):
        arguments = [(first.open.model_id, share, selection) for share in shares]
        for share, computed in zip(shares, state.ranks.scatter(rank_work.forward, arguments), strict=True):
            outputs.update(zip((unit.index for unit in share), computed, strict=True))
    yield from respond([outputs[i] for i in range(len(units))])


def respond(outputs: list[pb.UnitOutputs]) -> Iterator[pb.ForwardResponse]:
    """Responses of bounded size, units in order."""
    start = size = 0
    for i, unit in enumerate(outputs):
        size += unit.ByteSize()
        if size >= RESPONSE_BYTES or i == len(outputs) - 1:
            yield pb.ForwardResponse(first_unit=start, units=outputs[start : i + 1])
            start, size = i + 1, 0
