"""What each rank does of a forward pass, of a pass of accumulation and of an optimiser step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mrlm_engine.batching.plan import Share
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.compute_clock import COMPUTE_CLOCK
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.outputs.selection import Selection
from mrlm_engine.training.learner import Learner, StepResult
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.optimizer import AdamWParameters


class Learners(Protocol):
    """Where a rank finds its part of a model (EngineState)."""

    def learner(self, model_id: str) -> Learner:
        """A model's learner."""


@dataclass(frozen=True)
class Computed:
    """One rank's share of a micro-batch: outputs of its units where they were asked for, and what they cost."""

    outputs: list[pb.UnitOutputs] = field(default_factory=list)
    computed_tokens: int = 0
    # Bytes kept for the backward pass.
    graph_bytes: int = 0
    forward_seconds: float = 0.0
    backward_seconds: float = 0.0


def forward(state: Learners, model_id: str, share: Share, selection: Selection) -> list[pb.UnitOutputs]:
    """Outputs of a share, without a graph."""
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        return MicroBatch(learner, share, selection, keep_graph=False).outputs()


def begin_pass(state: Learners, model_id: str) -> None:
    """Opens a pass."""
    state.learner(model_id).begin_pass()


def commit_pass(state: Learners, model_id: str) -> None:
    """Ends the open pass."""
    state.learner(model_id).commit_pass()


def give_up_pass(state: Learners, model_id: str) -> None:
    """Forgets the open pass."""
    state.learner(model_id).give_up_pass()


def launch(state: Learners, model_id: str, number: int, share: Share, selection: Selection) -> Computed:
    """Computes a share's outputs and keeps its graph under the number of its micro-batch."""
    started = time.perf_counter()
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        graph = learner.graphs[number] = MicroBatch(learner, share, selection, keep_graph=True)
        outputs = graph.outputs()
    return Computed(outputs, graph.computed_tokens, graph.graph_bytes, time.perf_counter() - started)


def drop(state: Learners, model_id: str, number: int) -> None:
    """Gives a graph up."""
    state.learner(model_id).graphs.pop(number, None)


def drop_all(state: Learners, model_id: str) -> None:
    """Gives every graph up: an attempt at a pass was cut off."""
    state.learner(model_id).graphs.clear()


def backward(
    state: Learners, model_id: str, number: int, gradients: Sequence[UnitGradients], normalizer: float
) -> float:
    """Runs backward through a graph that was kept; seconds that it took."""
    started = time.perf_counter()
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        learner.graphs.pop(number).backward(gradients, normalizer)
    return time.perf_counter() - started


def forward_backward(
    state: Learners, model_id: str, share: Share, selection: Selection, normalizer: float, return_outputs: bool
) -> Computed:
    """Forward and backward of a share whose gradients travel with its units."""
    started = time.perf_counter()
    learner = state.learner(model_id)
    with learner.held.lock, COMPUTE_CLOCK.running():
        micro_batch = MicroBatch(learner, share, selection, keep_graph=True)
        outputs = micro_batch.outputs() if return_outputs else []
        between = time.perf_counter()
        micro_batch.backward([unit.gradients or UnitGradients() for unit in share], normalizer)
    ended = time.perf_counter()
    return Computed(outputs, micro_batch.computed_tokens, 0, between - started, ended - between)


def optim_step(state: Learners, model_id: str, parameters: AdamWParameters, max_grad_norm: float) -> StepResult:
    """Applies what has accumulated."""
    with COMPUTE_CLOCK.running():
        return state.learner(model_id).step(parameters, max_grad_norm)
