"""A share that is computed in pieces, because the token budget is below its one unit.

The loss of a unit needs all of its outputs. So where the gradients come from the client the pieces are computed twice:
first for the outputs, then, one after the other, with a graph for the way back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mrlm_engine.batching.pieces import split_gradients
from mrlm_engine.batching.plan import Share
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel


class PiecewiseMicroBatch:
    """What MicroBatch is with a graph, in less memory and one more forward pass. Between the two it keeps nothing."""

    graph_bytes = 0

    def __init__(self, learner: TrainableModel, pieces: Sequence[Share], selection: Selection) -> None:
        self._learner = learner
        self._pieces = pieces
        self._selection = selection
        # Of both passes.
        self.computed_tokens = 0

    def outputs(self) -> list[UnitOutputs]:
        """The selected outputs, unit by unit."""
        found = []
        for piece in self._pieces:
            computed = MicroBatch(self._learner, piece, self._selection, keep_graph=False)
            found.append(computed.outputs())
            self.computed_tokens += 2 * computed.computed_tokens
        return join_outputs(found)

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Computes each piece again and runs backward through it."""
        for piece, part in zip(self._pieces, split_gradients(gradients, self._pieces), strict=True):
            MicroBatch(self._learner, piece, self._selection, keep_graph=True).backward(part, normalizer)


def join_outputs(pieces: Sequence[list[UnitOutputs]]) -> list[UnitOutputs]:
    """Outputs of a share's units from those of its pieces: several pieces are of one unit."""
    found = [piece for piece in pieces if piece]
    if len(found) < 2:
        return found[0] if found else []
    units = [unit for piece in found for unit in piece]
    names = ("logprob", "entropy", "value", "final_value")
    joined = {name: [part for unit in units if (part := getattr(unit, name)) is not None] for name in names}
    return [UnitOutputs(**{name: np.concatenate(parts) for name, parts in joined.items() if parts})]
