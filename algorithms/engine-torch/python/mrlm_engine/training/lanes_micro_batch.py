"""A micro-batch whose units are divided among the lanes of its model."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel


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
