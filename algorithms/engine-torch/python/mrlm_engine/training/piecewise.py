"""A shard that is computed in pieces, because its one unit exceeds the token budget.

The loss of a unit needs all of its outputs. So for a loss of the client the pieces are computed twice: first for the
outputs, then, one after the other, with a graph for the backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mrlm_engine.batching.pieces import split_gradients
from mrlm_engine.batching.plan import RankShard
from mrlm_engine.batching.unit import UnitGradients
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel


class PiecewiseMicroBatch:
    """A Graph that recomputes the forward pass to save memory. Between the two passes it keeps no activations."""

    graph_bytes = 0

    def __init__(self, trainable: TrainableModel, pieces: Sequence[RankShard], selection: Selection) -> None:
        self._trainable = trainable
        self._pieces = pieces
        self._selection = selection
        # Number of tokens that the two passes compute.
        self.computed_tokens = 0

    def outputs(self) -> list[UnitOutputs]:
        """Returns the selected outputs, unit by unit."""
        found = []
        for piece in self._pieces:
            computed = MicroBatch(self._trainable, piece, self._selection, keep_graph=False)
            found.append(computed.outputs())
            self.computed_tokens += 2 * computed.computed_tokens
        return join_outputs(found)

    def backward(self, gradients: Sequence[UnitGradients], normalizer: float) -> None:
        """Computes each piece again and runs backward through it."""
        for piece, part in zip(self._pieces, split_gradients(gradients, self._pieces), strict=True):
            MicroBatch(self._trainable, piece, self._selection, keep_graph=True).backward(part, normalizer)


def join_outputs(pieces: Sequence[list[UnitOutputs]]) -> list[UnitOutputs]:
    """Returns the outputs of a shard's units from those of its pieces; several pieces belong to one unit."""
    found = [piece for piece in pieces if piece]
    if len(found) < 2:
        return found[0] if found else []
    units = [unit for piece in found for unit in piece]
    names = ("logprob", "entropy", "value", "final_value", "top_tokens", "top_logprob")
    joined = {name: [part for unit in units if (part := getattr(unit, name)) is not None] for name in names}
    return [UnitOutputs(**{name: np.concatenate(parts) for name, parts in joined.items() if parts})]
