"""A model's means to evaluate and to learn: its trunk, accumulated gradient and optimiser."""

from __future__ import annotations

import functools
import itertools
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from mrlm_engine.backbone.choose import choose_trunk
from mrlm_engine.batching.pieces import split_share
from mrlm_engine.batching.plan import Share, plan_micro_batches
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.errors import EngineError
from mrlm_engine.gradients.loss_scale import LossScale
from mrlm_engine.gradients.sink import GradientSink, LaneGradients
from mrlm_engine.gradients.store import GradientStore
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.shard import is_divided, shard_model
from mrlm_engine.training.lanes import Lanes
from mrlm_engine.training.optimizer import AdamWParameters, Optimizer, clip_factor

if TYPE_CHECKING:
    from mrlm_engine.training.laned import LanedMicroBatch
    from mrlm_engine.training.piecewise import PiecewiseMicroBatch

# Computed tokens of a lane's part of a micro-batch where the client gives no budget. On CPU one whose activations stay
# in cache; on a GPU one that fills it.
DEFAULT_TOKENS = {"cpu": 1700, "cuda": 16384}
# Graphs that wait for gradients at once: enough to hide a round trip, few enough to stay in cache.
MAX_WAITING = 3


def default_tokens(device_type: str) -> int:
    """The budget of a lane where the client gives none."""
    return DEFAULT_TOKENS.get(device_type, DEFAULT_TOKENS["cuda"])


@dataclass(frozen=True)
class StepResult:
    """What one optimiser step did; `skipped_reason` says why it was not applied."""

    applied: bool
    grad_norm: float
    skipped_reason: str
    seconds: float


class TrainableModel:
    """Everything between a LoadedModel's weights and its outputs and gradients. Compute happens under `held.lock`."""

    def __init__(self, held: LoadedModel, lanes: Lanes | None = None) -> None:
        """Divides its work among `lanes` where the model's trunk can; without, everything has one."""
        self.held = held
        self.trunk = choose_trunk(held)
        if held.mesh is not None and not is_divided(held):
            shard_model(held, held.mesh)
        self.gradients = GradientStore(held.named_parameters() if held.trainable else ())
        self.lanes = lanes if lanes is not None and self.trunk.has_lanes else Lanes()
        # What the backward passes of each lane add to.
        self._lane_gradients = [LaneGradients(lane) for lane in range(1, self.lanes.count)]
        self.sinks: list[GradientSink] = [self.gradients, *self._lane_gradients]
        self.loss_scale = LossScale() if held.dtype == torch.float16 else None
        # ForwardBackward calls completed since the last step.
        self.accumulated_calls = 0
        # Graphs of the open pass that wait for their gradients, by number of the micro-batch.
        self.graphs: dict[int, LanedMicroBatch | PiecewiseMicroBatch] = {}
        # How many may wait; fewer once memory has run out.
        self.max_waiting = MAX_WAITING
        self._optimizer: Optimizer | None = None

    @property
    def optimizer(self) -> Optimizer:
        """Made when first needed: frozen models hold no state."""
        if self._optimizer is None:
            self._optimizer = Optimizer(self.held, self.gradients)
        return self._optimizer

    def require_trainable(self) -> None:
        """Refuses a frozen model."""
        if not self.held.trainable:
            raise EngineError(
                "NOT_TRAINABLE",
                f"Model '{self.held.model_id}' is frozen.",
                "Create it with `trainable`, or train another model.",
            )

    @property
    def budget(self) -> int:
        """Computed tokens of one micro-batch, all lanes together."""
        return self.held.micro_batch_tokens or self.lanes.count * default_tokens(self.held.device.type)

    def plan(self, units: Sequence[TokenUnit], final_value: bool, ranks: int) -> list[list[Share]]:
        """Micro-batches under the model's token budget, which holds for each rank.

        The engine's own is one for each lane, so that units above it still keep all lanes at work.
        """
        cost = functools.partial(self.trunk.computed_tokens, final_value=final_value)
        if self.held.micro_batch_tokens or self.lanes.count == 1:
            return plan_micro_batches(units, cost, self.budget, ranks)
        planned = plan_micro_batches(units, cost, self.budget // self.lanes.count, ranks * self.lanes.count)
        return [[list(itertools.chain(*shares[rank::ranks])) for rank in range(ranks)] for shares in planned]

    def pieces(self, share: Share, final_value: bool) -> list[Share]:
        """What is computed at a time of a share: all of it, or some sequences of a unit above the budget.

        The engine's own budget splits no unit: a second forward pass is slower than the memory is worth.
        """
        cost = functools.partial(self.trunk.computed_tokens, final_value=final_value)
        return split_share(share, cost, self.held.micro_batch_tokens)

    def lane_shares(self, share: Share, final_value: bool) -> list[Share]:
        """The parts of `share` that are computed side by side, at least one; depends on the units alone."""
        if self.lanes.count == 1 or len(share) < 2:
            return [share]
        cost = functools.partial(self.trunk.computed_tokens, final_value=final_value)
        return [part for part in plan_micro_batches(share, cost, sys.maxsize, self.lanes.count)[0] if part]

    def largest_pass(self, shares: Sequence[Share], final_value: bool) -> tuple[int, int]:
        """Tokens and sequences of the largest piece that any of `shares` is computed in."""
        pieces = (piece for share in shares for piece in self.pieces(share, final_value))
        sizes = [
            (sum(self.trunk.computed_tokens(u, final_value) for u in piece), sum(len(u.sequences) for u in piece))
            for piece in pieces
        ]
        return max(sizes, default=(0, 0))

    def lower_budget(self, tokens: int, waiting: int) -> None:
        """Memory ran out: micro-batches of at most `tokens`, of which `waiting` may wait, from now on."""
        self.held.micro_batch_tokens = tokens
        self.max_waiting = waiting

    def begin_pass(self) -> None:
        """Accumulates apart from what there is, so that the pass can be given up by itself."""
        with self.held.lock:
            self.gradients.set_aside()

    def commit_pass(self) -> None:
        """Adds what the open pass accumulated to what there was before."""
        with self.held.lock:
            self.trunk.finish_gradients()
            for gradients in self._lane_gradients:
                gradients.move_to(self.gradients)
            self.gradients.sum_over_ranks()
            if self.loss_scale is not None:
                self.gradients.multiply(1.0 / self.loss_scale.value)
            self.gradients.merge()
            self.graphs.clear()
            self.accumulated_calls += 1

    def give_up_pass(self) -> None:
        """Forgets what the open pass accumulated."""
        with self.held.lock:
            self.graphs.clear()
            self.trunk.drop_gradients()
            for gradients in self._lane_gradients:
                gradients.clear()
            self.gradients.give_up()

    def clear(self) -> None:
        """Forgets what has accumulated."""
        self.gradients.clear()
        self.accumulated_calls = 0

    def step(self, parameters: AdamWParameters, max_grad_norm: float) -> StepResult:
        """Clips, applies and clears what has accumulated; a norm that is not finite changes nothing else."""
        started = time.perf_counter()
        with self.held.lock, torch.no_grad():
            if not self.accumulated_calls:
                raise EngineError(
                    "CALL_OUT_OF_ORDER",
                    f"OptimStep on '{self.held.model_id}' has no gradient to apply.",
                    "Complete a ForwardBackward since the last step first.",
                )
            norm = self.optimizer.grad_norm()
            if not math.isfinite(norm):
                self.clear()
                reason = f"the gradient norm is {norm}"
                if self.loss_scale is not None:
                    reason += f"; {self.loss_scale.overflowed()}"
                return StepResult(False, norm, reason, time.perf_counter() - started)
            self.optimizer.step(parameters, clip_factor(norm, max_grad_norm))
            if self.loss_scale is not None:
                self.loss_scale.stepped()
            self.accumulated_calls = 0
            self.held.step += 1
            self.held.generation += 1
        return StepResult(True, norm, "", time.perf_counter() - started)
