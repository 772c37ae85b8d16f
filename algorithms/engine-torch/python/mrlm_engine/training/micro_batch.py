"""One micro-batch between its forward and its backward pass, in one lane and in all."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import torch

from mrlm_engine.backbone.protocol import BackboneRun
from mrlm_engine.batching.layout import OutputShare
from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import Floats, TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.gradients.sink import PassGradients
from mrlm_engine.logprobs.logprobs import LogprobsRun
from mrlm_engine.logprobs.selection import GradientTensors, Selection, UnitOutputs, divide_outputs
from mrlm_engine.training.trainable_model import TrainableModel

# Unit of a rank without data where weights are divided among the ranks; its loss is zero.
DUMMY = TokenUnit(-1, (TokenSequence(np.zeros(2, np.int32), np.ones(1, np.int64)),))


class MicroBatch:
    """The graph of one micro-batch. The caller holds the model's lock while it computes."""

    def __init__(
        self,
        trainable: TrainableModel,
        units: Sequence[TokenUnit],
        selection: Selection,
        keep_graph: bool,
        gradients: PassGradients | None = None,
    ) -> None:
        """`gradients` are those of the lane that computes it, by default the first."""
        self._trainable = trainable
        self._gradients = gradients or trainable.lanes.gradients[0]
        self._units = units
        self._keep = keep_graph
        self._run: BackboneRun | None = None
        self._logprobs: LogprobsRun | None = None
        # Without an output there is nothing to compute, unless the other ranks wait for this one in collectives.
        self._is_dummy = not any(unit.outputs or selection.final_value for unit in units)
        if not self._is_dummy or trainable.model.mesh is not None:
            computed = [DUMMY] if self._is_dummy else units
            self._run = trainable.backbone.forward(computed, selection.final_value, keep_graph)
            self._logprobs = LogprobsRun(trainable.model, self._run.hidden, self._run.rows, selection)

    @property
    def computed_tokens(self) -> int:
        """Tokens that the model read."""
        return 0 if self._run is None or self._is_dummy else self._run.computed_tokens

    def outputs(self) -> list[UnitOutputs]:
        """Returns the selected outputs, unit by unit."""
        if self._logprobs is None or self._is_dummy:
            return [UnitOutputs() for _ in self._units]
        found = self._logprobs.outputs(self._keep)
        if (share := self._share) is not None:
            assert self._trainable.context is not None
            merge = self._trainable.context.merge
            merged = {
                name: merge(values, share.finals, share.finals_of)
                if name == "final_value"
                else merge(values, share.outputs, share.outputs_of)
                for name, values in vars(found).items()
                if values is not None
            }
            found = dataclasses.replace(found, **merged)
        return divide_outputs(found, self._units)

    @property
    def _share(self) -> OutputShare | None:
        """The outputs that this rank computes, if others compute the rest."""
        return None if self._run is None else self._run.rows.share

    @property
    def graph_bytes(self) -> int:
        """Bytes kept for the backward pass."""
        if self._run is None or self._logprobs is None:
            return 0
        return self._run.graph_bytes + self._logprobs.kept_bytes

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Runs backward from the gradients of its units divided by `normalizer`, and accumulates."""
        scale = self._trainable.loss_scale
        if scale is not None:
            # The end of the pass divides by it again, in float32.
            normalizer /= scale.value
        grads = GradientTensors(
            *(
                self._joined([getattr(g, name) for g in gradients], normalizer)
                for name in ("logprob", "entropy", "value")
            )
        )
        if self._run is None or self._logprobs is None:
            return
        if grads == GradientTensors(None, None, None):
            if self._trainable.model.mesh is not None:
                self._run.backward(torch.zeros_like(self._run.hidden), self._gradients)
            return
        self._run.backward(self._logprobs.backward(grads, self._gradients.sink), self._gradients)
        self._trainable.gradients.absorb()

    def _joined(self, parts: Sequence[Floats | None], normalizer: float) -> torch.Tensor | None:
        if all(part is None for part in parts):
            return None
        filled = [
            np.zeros(unit.outputs, np.float32) if part is None else part
            for part, unit in zip(parts, self._units, strict=True)
        ]
        # Divided in float64, so that the normalizer itself is not rounded first.
        joined = (np.concatenate(filled).astype(np.float64) / normalizer).astype(np.float32)
        whole = torch.from_numpy(joined).to(self._trainable.model.device)
        share = None if self._is_dummy else self._share
        return whole if share is None else whole[share.outputs]


class LanesMicroBatch:
    """A Graph of one MicroBatch for each lane. The caller holds the model's lock while lanes compute."""

    def __init__(self, trainable: TrainableModel, units: RankShard, selection: Selection, keep_graph: bool) -> None:
        self._lanes = trainable.lanes
        self._units = units
        self._shards = trainable.lane_shards(units, selection.final_value)
        make = functools.partial(MicroBatch, trainable, selection=selection, keep_graph=keep_graph)
        self._parts = self._lanes.run(
            [
                functools.partial(make, units=shard, gradients=gradients)
                for shard, gradients in zip(self._shards, self._lanes.gradients, strict=False)
            ]
        )

    @property
    def computed_tokens(self) -> int:
        return sum(part.computed_tokens for part in self._parts)

    @property
    def graph_bytes(self) -> int:
        return sum(part.graph_bytes for part in self._parts)

    def outputs(self) -> list[UnitOutputs]:
        found = self._lanes.run([part.outputs for part in self._parts])
        by_index = {
            unit.index: outputs
            for shard, computed in zip(self._shards, found, strict=True)
            for unit, outputs in zip(shard, computed, strict=True)
        }
        return [by_index[unit.index] for unit in self._units]

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        by_index = {unit.index: gradient for unit, gradient in zip(self._units, gradients, strict=True)}
        self._lanes.run(
            [
                functools.partial(part.backward, [by_index[unit.index] for unit in shard], normalizer)
                for part, shard in zip(self._parts, self._shards, strict=True)
            ]
        )
