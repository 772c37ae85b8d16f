"""What each rank does of a forward pass, of a pass of accumulation and of an optimiser step."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mrlm_engine.batching.plan import Share
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.compute.clock import COMPUTE_CLOCK
from mrlm_engine.compute.out_of_memory import memory_checked
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.laned import LanedMicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.piecewise import PiecewiseMicroBatch, join_outputs
from mrlm_engine.training.trainable_model import StepResult, TrainableModel


class Learners(Protocol):
    """Where a rank finds its part of a model (EngineState)."""

    def learner(self, model_id: str) -> TrainableModel:
        """A model's learner."""


@dataclass(frozen=True)
class Computed:
    """One rank's share of a micro-batch: outputs of its units where they were asked for, and what they cost."""

    outputs: list[UnitOutputs] = field(default_factory=list)
    computed_tokens: int = 0
    # Bytes kept for the backward pass.
    graph_bytes: int = 0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0


# `passes`, below: how many passes every rank makes of its share. Where weights are divided among the ranks, one that
# has fewer pieces than another computes empty ones, since the others wait for it in collectives.


@memory_checked
def forward(state: Learners, model_id: str, share: Share, selection: Selection, passes: int) -> list[UnitOutputs]:
    """Outputs of a share, without a graph."""
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        pieces = _pieces(learner, share, selection, passes)
        evaluate = functools.partial(LanedMicroBatch, learner, selection=selection, keep_graph=False)
        return join_outputs([evaluate(piece).outputs() for piece in pieces])


def begin_pass(state: Learners, model_id: str) -> None:
    """Opens a pass."""
    state.learner(model_id).begin_pass()


def commit_pass(state: Learners, model_id: str) -> None:
    """Ends the open pass."""
    state.learner(model_id).commit_pass()


def give_up_pass(state: Learners, model_id: str) -> None:
    """Forgets the open pass."""
    state.learner(model_id).give_up_pass()


def begin_anew(state: Learners, model_id: str, tokens: int, waiting: int) -> None:
    """Memory ran out: forgets the open pass and opens it again under a smaller budget."""
    learner = state.learner(model_id)
    learner.give_up_pass()
    learner.lower_budget(tokens, waiting)
    learner.begin_pass()


def lower_budget(state: Learners, model_id: str, tokens: int) -> None:
    """The same for evaluations, which have nothing to forget."""
    learner = state.learner(model_id)
    learner.lower_budget(tokens, learner.max_waiting)


@memory_checked
def launch(state: Learners, model_id: str, number: int, share: Share, selection: Selection, passes: int) -> Computed:
    """Computes a share's outputs and keeps its graph, or its pieces, under the number of its micro-batch."""
    started = time.perf_counter()
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        pieces = _pieces(learner, share, selection, passes)
        graph = learner.graphs[number] = (
            LanedMicroBatch(learner, share, selection, keep_graph=True)
            if len(pieces) == 1
            else PiecewiseMicroBatch(learner, pieces, selection)
        )
        outputs = graph.outputs()
    return Computed(outputs, graph.computed_tokens, graph.graph_bytes, time.perf_counter() - started)


def drop(state: Learners, model_id: str, number: int) -> None:
    """Gives a graph up."""
    state.learner(model_id).graphs.pop(number, None)


def drop_all(state: Learners, model_id: str) -> None:
    """Gives every graph up: an attempt at a pass was cut off."""
    state.learner(model_id).graphs.clear()


@memory_checked
def backward(
    state: Learners, model_id: str, number: int, gradients: Sequence[UnitGradients], normalizer: float
) -> float:
    """Runs backward through a graph that was kept; seconds that it took."""
    started = time.perf_counter()
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        learner.graphs.pop(number).backward(gradients, normalizer)
    return time.perf_counter() - started


@memory_checked
def forward_backward(
    state: Learners,
    model_id: str,
    share: Share,
    selection: Selection,
    passes: int,
    normalizer: float,
    return_outputs: bool,
) -> Computed:
    """Forward and backward of a share whose gradients travel with its units."""
    learner = state.learner(model_id)
    outputs: list[list[UnitOutputs]] = []
    tokens, forward_seconds, backward_seconds = 0, 0.0, 0.0
    with learner.held.lock, COMPUTE_CLOCK.running():
        for piece in _pieces(learner, share, selection, passes):
            started = time.perf_counter()
            micro_batch = LanedMicroBatch(learner, piece, selection, keep_graph=True)
            if return_outputs:
                outputs.append(micro_batch.outputs())
            between = time.perf_counter()
            micro_batch.backward([unit.gradients or UnitGradients() for unit in piece], normalizer)
            tokens += micro_batch.computed_tokens
            forward_seconds += between - started
            backward_seconds += time.perf_counter() - between
    return Computed(join_outputs(outputs), tokens, 0, forward_seconds, backward_seconds)


def optim_step(state: Learners, model_id: str, parameters: AdamWParameters, max_grad_norm: float) -> StepResult:
    """Applies what has accumulated."""
    with COMPUTE_CLOCK.running():
        return state.learner(model_id).step(parameters, max_grad_norm)


def _pieces(learner: TrainableModel, share: Share, selection: Selection, passes: int) -> list[Share]:
    """What is computed at a time."""
    pieces = learner.pieces(share, selection.final_value)
    return pieces + [[] for _ in range(passes - len(pieces))] if learner.held.mesh is not None else pieces
