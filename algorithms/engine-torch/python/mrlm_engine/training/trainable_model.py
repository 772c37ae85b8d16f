"""A loaded model with what its evaluation and training need: backbone, accumulated gradients and optimizer."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mrlm_engine.backbone.choose import choose_backbone, share_rows
from mrlm_engine.batching.pieces import split_shard
from mrlm_engine.batching.plan import RankShard, plan_micro_batches
from mrlm_engine.batching.unit import TokenUnit
from mrlm_engine.compute.clock import DeviceTimer
from mrlm_engine.errors import EngineError
from mrlm_engine.gradients.loss_scale import LossScale
from mrlm_engine.gradients.store import GradientStore
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.shard import is_divided, shard_model
from mrlm_engine.models.tensor_parallel import partial_gradients
from mrlm_engine.training.lanes import LaneThreads, ModelLanes
from mrlm_engine.training.optimizer import AdamWParameters, Optimizer, clip_factor
from mrlm_engine.training.passes import Graph

# Computed tokens of a lane's part of a micro-batch, if the client sets no budget. On CPU its activations stay in cache;
# on a GPU it occupies all cores.
DEFAULT_TOKENS = {"cpu": 1700, "cuda": 16384}
# Graphs that wait for gradients at once: enough to hide a round trip, few enough to stay in cache.
MAX_WAITING = 3


def default_tokens(device_type: str) -> int:
    """Returns the budget of a lane in computed tokens, if the client sets none."""
    return DEFAULT_TOKENS.get(device_type, DEFAULT_TOKENS["cuda"])


@dataclass(frozen=True)
class StepResult:
    """Result of one optimizer step; `skipped_reason` is the reason why it was not applied."""

    applied: bool
    grad_norm: float
    skipped_reason: str
    seconds: float


class TrainableModel:
    """Backbone, gradients, lanes and optimizer of a LoadedModel. Its methods compute under `model.lock`."""

    def __init__(self, model: LoadedModel, threads: LaneThreads | None = None) -> None:
        """`threads` of lanes are used if the model's backbone can; without them there is one lane."""
        self.model = model
        self.backbone = choose_backbone(model)
        if model.mesh is not None and not is_divided(model):
            shard_model(model, model.mesh)
        # Ranks that have parts of the tokens of each unit.
        self.context = None if model.mesh is None else model.mesh.tokens
        if self.context is not None:
            share_rows(model, self.backbone, self.context)
        partial = partial_gradients(model.module) if model.mesh is not None and model.mesh.tensor > 1 else ()
        self.gradients = GradientStore(model.named_parameters() if model.trainable else (), model.mesh, partial)
        self.lanes = ModelLanes(threads or LaneThreads(), self.backbone, self.gradients)
        self.loss_scale = LossScale() if model.dtype == torch.float16 else None
        # ForwardBackward calls completed since the last step.
        self.accumulated_calls = 0
        # Graphs of the open pass that wait for their gradients, by number of the micro-batch.
        self.graphs: dict[int, Graph] = {}
        # Largest number of them; smaller once memory has run out.
        self.max_waiting = MAX_WAITING
        # Seconds of the open pass that are not reported yet, and of optimizer steps.
        self.forward_timer, self.backward_timer = DeviceTimer(model.device), DeviceTimer(model.device)
        self._step_timer = DeviceTimer(model.device)
        self._optimizer: Optimizer | None = None

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer, made when first needed: frozen models hold no state."""
        if self._optimizer is None:
            self._optimizer = Optimizer(self.model, self.gradients)
        return self._optimizer

    def require_trainable(self) -> None:
        """Refuses a frozen model."""
        if not self.model.trainable:
            raise EngineError(
                "NOT_TRAINABLE",
                f"Model '{self.model.model_id}' is frozen.",
                "Create it with `trainable`, or train another model.",
            )

    @property
    def budget(self) -> int:
        """Computed tokens of one micro-batch, all lanes together."""
        return self.model.micro_batch_tokens or self.lanes.count * default_tokens(self.model.device.type)

    def plan(self, units: Sequence[TokenUnit], final_value: bool, ranks: int) -> list[list[RankShard]]:
        """Returns the micro-batches under the model's token budget, which holds for each rank.

        The default budget is one for each lane, so that units above it still occupy all lanes.
        """
        cost = functools.partial(self.backbone.token_cost, final_value=final_value)
        if self.model.micro_batch_tokens or self.lanes.count == 1:
            return plan_micro_batches(units, cost, self.budget, ranks)
        return self.lanes.plan(units, cost, self.budget // self.lanes.count, ranks)

    def pieces(self, shard: RankShard, final_value: bool, *, once: bool) -> list[RankShard]:
        """Returns the parts of a shard that are computed one by one: all of it, or some sequences of a unit above
        the budget.

        `once`: each part is computed once, since its gradients are known or none are wanted. Otherwise the default
        budget splits no unit: the memory saved would not justify a second forward pass. Nor does it on a CPU, where
        whole units have always been computed together.
        """
        cost = functools.partial(self.backbone.token_cost, final_value=final_value)
        is_free = once and self.model.device.type != "cpu"
        return split_shard(shard, cost, self.budget if is_free else self.model.micro_batch_tokens)

    def lane_shards(self, shard: RankShard, final_value: bool) -> list[RankShard]:
        """Returns the parts of `shard` that are computed side by side, at least one; they depend on the units alone."""
        return self.lanes.divide(shard, functools.partial(self.backbone.token_cost, final_value=final_value))

    def largest_pass(self, shards: Sequence[RankShard], final_value: bool, *, once: bool) -> tuple[int, int]:
        """Returns the tokens and sequences of the largest piece that any of `shards` is computed in."""
        pieces = (piece for shard in shards for piece in self.pieces(shard, final_value, once=once))
        sizes = [
            (sum(self.backbone.token_cost(u, final_value) for u in piece), sum(len(u.sequences) for u in piece))
            for piece in pieces
        ]
        return max(sizes, default=(0, 0))

    def lower_budget(self, tokens: int, waiting: int) -> None:
        """Limits later micro-batches to `tokens`, and waiting graphs to `waiting`, after memory ran out."""
        self.model.micro_batch_tokens = tokens
        self.max_waiting = waiting

    def begin_pass(self) -> None:
        """Sets the gradients of earlier passes aside, so that this pass can be given up alone."""
        with self.model.lock:
            self.gradients.set_aside()

    def commit_pass(self) -> None:
        """Adds the gradients of the open pass to those of earlier passes."""
        with self.model.lock:
            self.lanes.collect()
            self.gradients.sum_over_ranks()
            if self.loss_scale is not None:
                self.gradients.multiply(1.0 / self.loss_scale.value)
            self.gradients.merge()
            self.graphs.clear()
            self.accumulated_calls += 1

    def give_up_pass(self) -> None:
        """Drops the gradients of the open pass."""
        with self.model.lock:
            self.graphs.clear()
            self.lanes.clear()
            self.gradients.give_up()
            for timer in (self.forward_timer, self.backward_timer):
                timer.take(wait=True)

    def clear(self) -> None:
        """Drops all gradients."""
        self.gradients.clear()
        self.accumulated_calls = 0

    def step(self, parameters: AdamWParameters, max_grad_norm: float) -> StepResult:
        """Clips, applies and clears the gradients; one whose norm is not finite is dropped and changes no weight."""
        with self.model.lock, torch.no_grad():
            with self._step_timer.section():
                norm, reason = self._step(parameters, max_grad_norm)
            return StepResult(not reason, norm, reason, self._step_timer.take(wait=True))

    def _step(self, parameters: AdamWParameters, max_grad_norm: float) -> tuple[float, str]:
        """Returns the norm of the gradients, and the reason why they were dropped."""
        if not self.accumulated_calls:
            raise EngineError(
                "CALL_OUT_OF_ORDER",
                f"OptimStep on '{self.model.model_id}' has no gradient to apply.",
                "Complete a ForwardBackward since the last step first.",
            )
        norm = self.optimizer.grad_norm()
        if not math.isfinite(norm):
            self.clear()
            reason = f"the gradient norm is {norm}"
            if self.loss_scale is not None:
                reason += f"; {self.loss_scale.overflowed()}"
            return norm, reason
        self.optimizer.step(parameters, clip_factor(norm, max_grad_norm))
        if self.loss_scale is not None:
            self.loss_scale.stepped()
        self.accumulated_calls = 0
        self.model.step += 1
        self.model.generation += 1
        return norm, ""
