"""Work of each rank in a forward pass, in a pass of accumulation and in an optimizer step."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.compute.out_of_memory import memory_checked
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.micro_batch import LanesMicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.passes import Graph
from mrlm_engine.training.piecewise import PiecewiseMicroBatch, join_outputs
from mrlm_engine.training.trainable_model import StepResult, TrainableModel


class TrainableModels(Protocol):
    """Access to the models of a rank (EngineState)."""

    def trainable_model(self, model_id: str) -> TrainableModel:
        """Returns the trainable model of an id."""


@dataclass(frozen=True)
class Computed:
    """One rank's shard of a micro-batch: outputs of its units if they were requested, and their cost."""

    outputs: list[UnitOutputs] = field(default_factory=list)
    computed_tokens: int = 0
    # Bytes kept for the backward pass.
    graph_bytes: int = 0
    # Seconds of passes that are done, those of earlier micro-batches too; `commit_pass` returns the others.
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0


# `passes`, below: the number of passes that every rank makes of its shard. Where weights are divided among the ranks, a
# rank that has fewer pieces than another computes empty ones, since the others wait for it in collectives.


@memory_checked
def forward(
    state: TrainableModels, model_id: str, shard: RankShard, selection: Selection, passes: int
) -> list[UnitOutputs]:
    """Returns the outputs of a shard, without a graph."""
    trainable = state.trainable_model(model_id)
    with trainable.model.lock, COMPUTE_CLOCK.running():
        pieces = _pieces(trainable, shard, selection, passes, once=True)
        evaluate = functools.partial(LanesMicroBatch, trainable, selection=selection, keep_graph=False)
        return join_outputs([evaluate(piece).outputs() for piece in pieces])


def begin_pass(state: TrainableModels, model_id: str) -> None:
    """Opens a pass."""
    state.trainable_model(model_id).begin_pass()


def commit_pass(state: TrainableModels, model_id: str) -> tuple[float, float]:
    """Ends the open pass. Returns the seconds of forward and backward passes that were not reported before."""
    trainable = state.trainable_model(model_id)
    trainable.commit_pass()
    return trainable.forward_timer.take(wait=True), trainable.backward_timer.take(wait=True)


def give_up_pass(state: TrainableModels, model_id: str) -> None:
    """Drops the open pass."""
    state.trainable_model(model_id).give_up_pass()


def begin_anew(state: TrainableModels, model_id: str, tokens: int, waiting: int) -> None:
    """Drops the open pass and opens it again under a smaller budget, after memory ran out."""
    trainable = state.trainable_model(model_id)
    trainable.give_up_pass()
    trainable.lower_budget(tokens, waiting)
    trainable.begin_pass()


def lower_budget(state: TrainableModels, model_id: str, tokens: int) -> None:
    """Lowers the budget of evaluations, which have no pass to drop."""
    trainable = state.trainable_model(model_id)
    trainable.lower_budget(tokens, trainable.max_waiting)


@memory_checked
def launch(
    state: TrainableModels, model_id: str, number: int, shard: RankShard, selection: Selection, passes: int
) -> Computed:
    """Computes a shard's outputs and keeps its graph, or its pieces, under the number of its micro-batch."""
    trainable = state.trainable_model(model_id)
    with trainable.model.lock, COMPUTE_CLOCK.running(), trainable.forward_timer.section():
        pieces = _pieces(trainable, shard, selection, passes, once=False)
        graph: Graph = (
            LanesMicroBatch(trainable, shard, selection, keep_graph=True)
            if len(pieces) == 1
            else PiecewiseMicroBatch(trainable, pieces, selection)
        )
        trainable.graphs[number] = graph
        outputs = graph.outputs()
    return Computed(outputs, graph.computed_tokens, graph.graph_bytes, trainable.forward_timer.take())


def drop(state: TrainableModels, model_id: str, number: int) -> None:
    """Frees a graph."""
    state.trainable_model(model_id).graphs.pop(number, None)


def drop_all(state: TrainableModels, model_id: str) -> None:
    """Frees every graph after an interrupted attempt at a pass."""
    state.trainable_model(model_id).graphs.clear()


@memory_checked
def backward(
    state: TrainableModels, model_id: str, number: int, gradients: Sequence[UnitGradients], normalizer: float
) -> float:
    """Runs backward through a kept graph; returns the seconds of backward passes that are done."""
    trainable = state.trainable_model(model_id)
    with trainable.model.lock, COMPUTE_CLOCK.running():
        with trainable.backward_timer.section():
            trainable.graphs.pop(number).backward(gradients, normalizer)
        return trainable.backward_timer.take()


@memory_checked
def forward_backward(
    state: TrainableModels,
    model_id: str,
    shard: RankShard,
    selection: Selection,
    passes: int,
    normalizer: float,
    return_outputs: bool,
) -> Computed:
    """Runs forward and backward of a shard whose gradients travel with its units."""
    trainable = state.trainable_model(model_id)
    outputs: list[list[UnitOutputs]] = []
    tokens = 0
    with trainable.model.lock, COMPUTE_CLOCK.running():
        for piece in _pieces(trainable, shard, selection, passes, once=True):
            with trainable.forward_timer.section():
                micro_batch = LanesMicroBatch(trainable, piece, selection, keep_graph=True)
                if return_outputs:
                    outputs.append(micro_batch.outputs())
            with trainable.backward_timer.section():
                micro_batch.backward([unit.gradients or UnitGradients() for unit in piece], normalizer)
            tokens += micro_batch.computed_tokens
    seconds = trainable.forward_timer.take(), trainable.backward_timer.take()
    return Computed(join_outputs(outputs), tokens, 0, *seconds)


def optim_step(state: TrainableModels, model_id: str, parameters: AdamWParameters, max_grad_norm: float) -> StepResult:
    """Applies the accumulated gradients."""
    with COMPUTE_CLOCK.running():
        return state.trainable_model(model_id).step(parameters, max_grad_norm)


def _pieces(
    trainable: TrainableModel, shard: RankShard, selection: Selection, passes: int, *, once: bool
) -> list[RankShard]:
    """Returns the parts of a shard that are computed one after the other."""
    pieces = trainable.pieces(shard, selection.final_value, once=once)
    return pieces + [[] for _ in range(passes - len(pieces))] if trainable.model.mesh is not None else pieces
