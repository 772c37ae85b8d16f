"""A micro-batch whose units are divided among the lanes of its learner."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from mrlm_engine.batching.plan import Share
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel


class LanedMicroBatch:
    """What MicroBatch is; the caller holds the model's lock, and lanes compute side by side."""

    def __init__(self, learner: TrainableModel, units: Share, selection: Selection, keep_graph: bool) -> None:
        self._lanes = learner.lanes
        self._units = units
        self._shares = learner.lane_shares(units, selection.final_value)
        make = functools.partial(MicroBatch, learner, selection=selection, keep_graph=keep_graph)
        self._parts = self._lanes.run(
            [functools.partial(make, units=share, lane=lane) for lane, share in enumerate(self._shares)]
        )

    @property
    def computed_tokens(self) -> int:
        """Tokens that the model read."""
        return sum(part.computed_tokens for part in self._parts)

    @property
    def graph_bytes(self) -> int:
        """Bytes kept for the backward pass."""
        return sum(part.graph_bytes for part in self._parts)

    def outputs(self) -> list[UnitOutputs]:
        """The selected outputs, unit by unit."""
        found = self._lanes.run([part.outputs for part in self._parts])
        place = {
            unit.index: outputs
            for share, computed in zip(self._shares, found, strict=True)
            for unit, outputs in zip(share, computed, strict=True)
        }
        return [place[unit.index] for unit in self._units]

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Runs backward from the gradients of its units divided by `normalizer`, and accumulates."""
        given = {unit.index: gradient for unit, gradient in zip(self._units, gradients, strict=True)}
        self._lanes.run(
            [
                functools.partial(part.backward, [given[unit.index] for unit in share], normalizer)
                for part, share in zip(self._parts, self._shares, strict=True)
            ]
        )
